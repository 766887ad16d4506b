import { base58, type components, createOrrery } from '@orrery/sdk';
import type { BrowserWallet } from './wallets.js';

/** A client without a key. */
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

/** Whether a wallet gets an account here. */
export const readMethods = () => stranger().get('/auth/methods');
