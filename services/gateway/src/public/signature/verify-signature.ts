import { createPublicKey, verify } from 'node:crypto';
import { hasCanonicalScalar, isSafePoint } from './curve-points.js';
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
 * non-canonical points and malleable signatures are refused: they would let one signature stand for many, and versions
 * of OpenSSL differ in what they make of them. The curve
 * arithmetic, about 150 µs, runs in the thread pool, beside the event loop.
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
  if (!isSafePoint(key) || !isSafePoint(signature.subarray(0, 32)) || !hasCanonicalScalar(signature))
    return false;
  const publicKey = publicKeyOf(key);
  return await new Promise((resolve, reject) =>
    verify(null, message, publicKey, signature, (error, isValid) =>
      error === null ? resolve(isValid) : reject(error),
    ),
  );
}

/** From JWK, which takes a seventh of the time that DER takes. */
const publicKeyOf = (key: Uint8Array) =>
  createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key).toString('base64url') },
    format: 'jwk',
  });
