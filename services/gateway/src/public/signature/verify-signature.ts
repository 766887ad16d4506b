import { createPublicKey, verify } from 'node:crypto';
import { hasCanonicalScalar, isSafePublicKey } from './curve-points.js';
import { readBase58 } from './read-base58.js';

export interface SignedMessage {
  /** Base58 of 32 bytes. */
  wallet: string;
  message: string;
  /** Base58 of 64 bytes. */
  signature: string;
}

/**
 * Whether `signature` is the wallet's ed25519 signature over the UTF-8 bytes of `message`. Small-order and
 * non-canonical keys and malleable signatures are refused: they would let one signature stand for many.
 */
export function isSignedBy({ wallet, message, signature }: SignedMessage): boolean {
  const key = readBase58(wallet, 32);
  const bytes = readBase58(signature, 64);
  if (key === undefined || bytes === undefined) return false;
  if (!isSafePublicKey(key) || !hasCanonicalScalar(bytes)) return false;
  return verify(null, Buffer.from(message, 'utf8'), publicKeyOf(key), bytes);
}

const publicKeyOf = (key: Uint8Array) =>
  createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key).toString('base64url') },
    format: 'jwk',
  });
