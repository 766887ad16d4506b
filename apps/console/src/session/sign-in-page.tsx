import { createOrrery } from '@orrery/sdk';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import mark from '../layout/mark.svg';
import { ThemeSwitch } from '../layout/theme-switch.js';
import { Button } from '../ui/button.js';
import { ErrorNote } from '../ui/error-note.js';
import { TextField } from '../ui/field.js';
import { useSession } from './use-session.js';

export function SignInPage() {
  const session = useSession();
  const reason = session.endedBy();
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
        <div className="rounded-lg border border-line bg-surface p-5">
          <KeyForm />
        </div>
        <p className="mt-4 flex items-center justify-between text-sm text-muted">
          <a href="/docs" className="link">
            API reference
          </a>
          <ThemeSwitch />
        </p>
      </div>
    </div>
  );
}

/** Asks the API who the key is before it is kept. */
function KeyForm() {
  const session = useSession();
  const [key, setKey] = useState('');
  const signIn = useMutation({
    mutationFn: async (token: string) => {
      await createOrrery({ url: location.origin, token }).get('/api/me');
      return token;
    },
    onSuccess: (token) => session.start(token),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signIn.mutate(key.trim());
  };
  return (
    <form onSubmit={submit}>
      <TextField
        label="API key"
        name="key"
        type="password"
        autoComplete="off"
        spellCheck={false}
        required
        value={key}
        onChange={setKey}
        hint="It begins with orrery_ and is kept for this tab only. The all-in-one prints it when it starts."
      />
      <ErrorNote title="The key was not accepted" error={signIn.error} />
      <Button type="submit" look="primary" className="mt-4 w-full" pending={signIn.isPending}>
        Sign in
      </Button>
    </form>
  );
}
