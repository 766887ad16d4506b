import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { Button } from '../ui/button.js';
import { Form, TextField } from '../ui/field.js';
import mark from '../ui/mark.svg';
import { ErrorNote, Progress } from '../ui/messages.js';
import { ThemeSwitch } from '../ui/theme.js';
import { type KeyOrigin, useEnding, useSession } from './session.js';
import {
  type BrowserWallet,
  checkKey,
  exchangeCode,
  readMethods,
  signInWithWallet,
  useWallets,
} from './sign-in.js';

export function SignInPage() {
  const reason = useEnding();
  useEffect(() => {
    document.title = 'Sign in · Orrery';
  }, []);
  return (
    <div className="grid min-h-dvh place-items-center px-4 py-10">
      <div className="w-full max-w-md">
        <div className="mb-6 flex items-center gap-3">
          <img src={mark} alt="" className="size-9" />
          <h1 className="text-xl font-semibold tracking-tight">Sign in to Orrery</h1>
        </div>
        {reason !== undefined && (
          <div role="status" className="mb-4 rounded-md border border-warn/40 bg-warn-soft px-3.5 py-2.5">
            <p className="font-semibold text-warn">Your session has ended</p>
            <p>{reason}</p>
          </div>
        )}
        <CodeExchange />
        <div className="rounded-lg border border-line bg-surface p-5">
          <KeyForm />
          <Wallets />
        </div>
        <div className="mt-4 flex items-center justify-between text-sm text-muted">
          <a href="/docs" className="link">
            API reference
          </a>
          <ThemeSwitch />
        </div>
      </div>
    </div>
  );
}

/** A way to get a key, with which the session starts. */
function useSignIn<Input>(mutationFn: (input: Input) => Promise<string>, origin: KeyOrigin) {
  const session = useSession();
  return useMutation({ mutationFn, onSuccess: (token) => session.start(token, origin) });
}

/** A link that the all-in-one printed has a code behind the `#`: it leaves the address bar before it is exchanged. */
function CodeExchange() {
  const navigate = useNavigate();
  const hash = useRouterState({ select: ({ location }) => location.hash });
  const { mutate, isPending, error } = useSignIn(exchangeCode, 'made');
  const taken = useRef<string>(undefined);
  const code = codeIn(hash);
  useEffect(() => {
    const isTaken = taken.current === code;
    taken.current = code;
    if (code === undefined || isTaken) return;
    void navigate({ to: '/sign-in', search: (search) => search, hash: '', replace: true });
    mutate(code);
  }, [code, mutate, navigate]);
  if (isPending) return <Progress label="Signing in" />;
  return <ErrorNote title="The link did not sign you in" error={error} />;
}

/** The code of `#code=…`. */
export const codeIn = (hash: string): string | undefined => /^code=([\w-]+)$/.exec(hash)?.[1];

/** Asks the API who the key is before it is kept. */
function KeyForm() {
  const [key, setKey] = useState('');
  const signIn = useSignIn(checkKey, 'given');
  return (
    <Form onSubmit={() => signIn.mutate(key.trim())}>
      <TextField
        label="API key"
        name="key"
        type="password"
        autoComplete="off"
        spellCheck={false}
        required
        value={key}
        onChange={setKey}
        hint={
          <>
            It begins with orrery_ and is kept for this tab only. The all-in-one prints one when it starts,
            and <code className="font-mono">npm run orrery -- console</code> prints a link that signs you in.
          </>
        }
      />
      <ErrorNote title="The key was not accepted" error={signIn.error} />
      <Button type="submit" look="primary" className="mt-4 w-full" pending={signIn.isPending}>
        Sign in
      </Button>
    </Form>
  );
}

function Wallets() {
  const { data: methods } = useQuery({ queryKey: ['sign-in methods'], queryFn: readMethods });
  const wallets = useWallets();
  if (methods?.wallet !== true) return null;
  return (
    <section aria-label="Sign in with a wallet" className="mt-5 border-t border-line pt-4">
      {wallets.length === 0 ? (
        <p className="text-sm text-muted">
          A wallet signs you up too: this browser has none that signs texts for Solana.
        </p>
      ) : (
        <>
          <p className="mb-2 text-sm text-muted">
            Or sign a text with a wallet: that costs nothing, and the first time it makes an account.
          </p>
          {wallets.map((wallet) => (
            <WalletButton key={wallet.name} wallet={wallet} />
          ))}
        </>
      )}
    </section>
  );
}

function WalletButton({ wallet }: { wallet: BrowserWallet }) {
  const signIn = useSignIn(signInWithWallet, 'made');
  return (
    <>
      <Button className="mb-2 w-full" pending={signIn.isPending} onClick={() => signIn.mutate(wallet)}>
        <img src={wallet.icon} alt="" className="size-4" /> {wallet.name}
      </Button>
      <ErrorNote title={`${wallet.name} did not sign you in`} error={signIn.error} />
    </>
  );
}
