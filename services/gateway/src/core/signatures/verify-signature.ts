import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { hasCanonicalScalar, isSafePoint } from './encodings.js';

/**
 * Whether `signature` (64 bytes) is the ed25519 signature of the key (32 bytes) over the message. Small-order and
 * non-canonical points and malleable signatures are refused: they would let one signature stand for many, and versions
 * of OpenSSL differ in what they make of them. The curve arithmetic, about 150 µs, runs in the thread pool, beside the
 * event loop.
 */
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
