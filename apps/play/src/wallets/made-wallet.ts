import { base58, type SigningWallet } from '@orrery/sdk';

/** A wallet that the page has made and keeps: the two halves of an ed25519 key, as WebCrypto writes them. */
interface KeptKey {
  readonly d: string;
  readonly x: string;
}

export interface MadeWallet extends SigningWallet {
  /** Base58 of the public key. */
  readonly address: string;
}

const PLACE = 'orrery.play.wallet';
const ED25519 = { name: 'Ed25519' };

/** Whether the browser can make and use such a key: it needs HTTPS or localhost, and a browser of 2025 or later. */
export const canMakeWallets = (): boolean => globalThis.crypto?.subtle !== undefined;

/** The wallet that this browser keeps for this origin; undefined: there is none. */
export async function keptWallet(): Promise<MadeWallet | undefined> {
  const key = readKey();
  return key === undefined ? undefined : walletOf(key);
}

/** Makes a wallet and keeps it, unless one is kept, as another tab may have done. @throws where the browser knows no Ed25519 */
export async function makeWallet(): Promise<MadeWallet> {
  const kept = await keptWallet();
  if (kept !== undefined) return kept;
  const { privateKey } = (await crypto.subtle.generateKey(ED25519, true, [
    'sign',
    'verify',
  ])) as CryptoKeyPair;
  return keep(await crypto.subtle.exportKey('jwk', privateKey));
}

/** Takes over a wallet from a key file, 64 numbers as Solana's tools write them. @throws Error that says what is wrong */
export async function importWallet(text: string): Promise<MadeWallet> {
  const bytes = bytesIn(text);
  if (bytes === undefined) throw new Error('This is no key file: it has to hold 64 numbers from 0 to 255.');
  const x = toBase64(bytes.slice(32));
  const kept = readKey();
  if (kept !== undefined && kept.x !== x)
    throw new Error('This browser keeps another wallet: load the page again, export that and forget it.');
  return keep({ d: toBase64(bytes.slice(0, 32)), x });
}

/**
 * The kept wallet as a key file: `orrery public execute --wallet` and wallets of Solana take it. @throws Error unless it is
 * the one with this address
 */
export function exportWallet(address: string): string {
  const key = readKey();
  if (key === undefined || addressOf(key) !== address)
    throw new Error('This browser does not keep this wallet any more: load the page again.');
  return JSON.stringify([...fromBase64(key.d), ...fromBase64(key.x)]);
}

/** Another tab may keep another one by now, which stays. */
export function forgetWallet(address: string): void {
  const key = readKey();
  if (key !== undefined && addressOf(key) === address) localStorage.removeItem(PLACE);
}

const addressOf = ({ x }: KeptKey): string => base58(fromBase64(x));

async function keep({ d, x }: JsonWebKey): Promise<MadeWallet> {
  if (d === undefined || x === undefined) throw new Error('The browser has made no key.');
  const wallet = await walletOf({ d, x });
  localStorage.setItem(PLACE, JSON.stringify({ d, x }));
  return wallet;
}

async function walletOf({ d, x }: KeptKey): Promise<MadeWallet> {
  const jwk = { kty: 'OKP', crv: 'Ed25519', d, x };
  const key = await crypto.subtle.importKey('jwk', jwk, ED25519, false, ['sign']);
  const publicKey = fromBase64(x);
  return {
    address: base58(publicKey),
    publicKey,
    sign: async (message) => new Uint8Array(await crypto.subtle.sign(ED25519, key, message as BufferSource)),
  };
}

function readKey(): KeptKey | undefined {
  try {
    const key = JSON.parse(localStorage.getItem(PLACE) ?? 'null') as KeptKey | null;
    return typeof key?.d === 'string' && typeof key.x === 'string' ? key : undefined;
  } catch {
    return undefined;
  }
}

function bytesIn(text: string): Uint8Array | undefined {
  try {
    const numbers: unknown = JSON.parse(text);
    const isByte = (one: unknown) => Number.isInteger(one) && Number(one) >= 0 && Number(one) < 256;
    if (!Array.isArray(numbers) || numbers.length !== 64 || !numbers.every(isByte)) return undefined;
    return Uint8Array.from(numbers as number[]);
  } catch {
    return undefined;
  }
}

const toBase64 = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

const fromBase64 = (text: string): Uint8Array =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
