import { base58, type components, createOrrery } from '@orrery/sdk';
import { useEffect, useState } from 'react';
import type { Session } from './session.js';

const stranger = () => createOrrery({ url: location.origin });

/** Asks the API who the key is, and gives it back. @throws OrreryError for one that is refused */
export async function checkKey(token: string): Promise<string> {
  await createOrrery({ url: location.origin, token }).get('/api/me');
  return token;
}

/** A key for the code of a link; the code is worth nothing afterwards. @throws OrreryError */
export async function exchangeCode(code: string): Promise<string> {
  const { token } = await stranger().post('/auth/code', { body: { code } });
  return token;
}

/** A key for the wallet: its owner confirms a text that says what is signed. @throws OrreryError or the wallet's error */
export const signInWithWallet = (browserWallet: BrowserWallet): Promise<string> => signFor(browserWallet, {});

export type SignedKey = Pick<components['schemas']['CreateKey'], 'name' | 'scopes' | 'expiresAt'>;

/**
 * A key that the account's wallet signs for, which may be good for longer than the key of the session.
 *
 * @throws OrreryError, the wallet's error, or Error where the wallet shows another address than `owner`
 */
export const signForKey = (browserWallet: BrowserWallet, key: SignedKey, owner: string): Promise<string> =>
  signFor(browserWallet, { ...key, purpose: 'key' }, owner);

async function signFor(
  { name, features }: BrowserWallet,
  purpose: Omit<components['schemas']['ChallengeRequest'], 'wallet'>,
  owner?: string,
): Promise<string> {
  const { accounts } = await features['standard:connect'].connect();
  const account = accounts.find(({ address }) => owner === undefined || address === owner);
  if (account === undefined)
    throw new Error(
      `${name} did not show ${owner ?? 'an account'}. Unlock it, choose it there and try again.`,
    );
  const wallet = account.address;
  const { message } = await stranger().post('/auth/challenge', { body: { wallet, ...purpose } });
  const bytes = new TextEncoder().encode(message);
  const [signed] = await features['solana:signMessage'].signMessage({ account, message: bytes });
  if (signed === undefined) throw new Error(`${name} did not sign.`);
  const signature = base58(signed.signature);
  const { token } = await stranger().post('/auth/token', { body: { wallet, message, signature } });
  return token;
}

export const readMethods = () => stranger().get('/auth/methods');

/** How long a revocation is tried again, in milliseconds. */
const RETRY_MS = 2000;

/**
 * Ends the session at once. A key that a sign-in made is revoked, so that it is worth nothing afterwards; a key that the
 * person gave goes on. Where the revocation fails the sign-in page says so.
 */
export async function signOut(session: Session): Promise<void> {
  const token = session.current();
  const isMade = session.isMade();
  session.end();
  if (token === undefined || !isMade) return;
  try {
    await revoke(token);
  } catch (error) {
    session.say(
      'You are signed out, but the key of the session could not be revoked: it stays good for 24 hours after the sign-in. ' +
        (error as Error).message,
    );
  }
}

/** The request goes on where the tab is closed meanwhile. A token holds its key's id. */
const revoke = (token: string): Promise<unknown> =>
  createOrrery({
    url: location.origin,
    token,
    retryForMs: RETRY_MS,
    fetch: (request) => fetch(request, { keepalive: true }),
  }).delete('/api/keys/{id}', { path: { id: token.slice('orrery_'.length, ID_END) } });

const ID_END = 'orrery_'.length + 12;

/** A wallet of the browser by the Wallet Standard (github.com/wallet-standard), as far as a sign-in needs it. */
export interface BrowserWallet {
  readonly name: string;
  /** A data URI. */
  readonly icon: string;
  readonly features: {
    readonly 'standard:connect': { connect(): Promise<{ accounts: readonly WalletAccount[] }> };
    readonly 'solana:signMessage': {
      signMessage(input: {
        account: WalletAccount;
        message: Uint8Array;
      }): Promise<readonly { signature: Uint8Array }[]>;
    };
  };
}

export interface WalletAccount {
  /** Base58. */
  readonly address: string;
}

interface Registry {
  register(...wallets: readonly object[]): () => void;
}

/** The wallets that can sign a text, as they announce themselves: before this page was loaded, or later. */
export function useWallets(): readonly BrowserWallet[] {
  const [wallets, setWallets] = useState<readonly BrowserWallet[]>([]);
  useEffect(() => {
    const registry: Registry = {
      register: (...added) => {
        setWallets((known) => [...known, ...added.filter(canSign)]);
        return () => setWallets((known) => known.filter((one) => !added.includes(one)));
      },
    };
    const announced = ({ detail }: CustomEvent<(registry: Registry) => void>) => detail(registry);
    const listener = announced as unknown as EventListener;
    window.addEventListener('wallet-standard:register-wallet', listener);
    window.dispatchEvent(new CustomEvent('wallet-standard:app-ready', { detail: registry }));
    return () => {
      window.removeEventListener('wallet-standard:register-wallet', listener);
      setWallets([]);
    };
  }, []);
  return wallets;
}

function canSign(wallet: object): wallet is BrowserWallet {
  const { features } = wallet as Partial<BrowserWallet>;
  return features?.['standard:connect'] !== undefined && features['solana:signMessage'] !== undefined;
}
