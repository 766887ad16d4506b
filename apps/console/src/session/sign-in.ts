import { base58, createOrrery } from '@orrery/sdk';
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
export async function signInWithWallet({ name, features }: BrowserWallet): Promise<string> {
  const { accounts } = await features['standard:connect'].connect();
  const [account] = accounts;
  if (account === undefined) throw new Error(`${name} showed no account. Unlock it and try again.`);
  const wallet = account.address;
  const { message } = await stranger().post('/auth/challenge', { body: { wallet } });
  const bytes = new TextEncoder().encode(message);
  const [signed] = await features['solana:signMessage'].signMessage({ account, message: bytes });
  if (signed === undefined) throw new Error(`${name} did not sign.`);
  const signature = base58(signed.signature);
  const { token } = await stranger().post('/auth/token', { body: { wallet, message, signature } });
  return token;
}

/** Whether a wallet gets an account here. */
export const readMethods = () => stranger().get('/auth/methods');
