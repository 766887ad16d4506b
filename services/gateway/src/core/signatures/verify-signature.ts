import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { hasCanonicalScalar, isSafePoint, readBase58 } from './encodings.js';

export interface SignedMessage {
  /** Base58 of 32 bytes. */
  wallet: string;
  message: string;
  /** Base58 of 64 bytes. */
  signature: string;
}

/**
 * Whether `signature` is the wallet's ed25519 signature over the UTF-8 bytes of `message`. Small-order and
 * non-canonical points and malleable signatures are refused: they would let one signature stand for many, and versions
 * of OpenSSL differ in what they make of them. The curve arithmetic, about 150 µs, runs in the thread pool, beside the
 * event loop.
 */
export async function isSignedBy({ wallet, message, signature }: SignedMessage): Promise<boolean> {
  const key = readBase58(wallet, 32);
  const bytes = readBase58(signature, 64);
  if (key === undefined || bytes === undefined) return false;
  return await isSignatureOf(key, Buffer.from(message, 'utf8'), bytes);
}

/** The same for a key of 32 bytes and a signature of 64. */
export async function isSignatureOf(
  key: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  const publicKey = publicKeyOf(key);
  if (publicKey === null || !isSafePoint(signature.subarray(0, 32)) || !hasCanonicalScalar(signature))
    return false;
  return await new Promise((resolve, reject) =>
    verify(null, message, publicKey, signature, (error, isValid) =>
      error === null ? resolve(isValid) : reject(error),
    ),
  );
}

/** Keys of wallets that signed before: making one takes 15 µs. About a kilobyte each. */
const publicKeys = new LRUCache<string, KeyObject>({ max: 5000 });

/** Null for a point that is refused. */
function publicKeyOf(key: Uint8Array): KeyObject | null {
  const x = Buffer.from(key).toString('base64url');
  const known = publicKeys.get(x);
  if (known !== undefined) return known;
  if (!isSafePoint(key)) return null;
  // From JWK, which takes a seventh of the time that DER takes.
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  publicKeys.set(x, publicKey);
  return publicKey;
}
