import bs58 from 'bs58';

/** 2^255 − 19, the field's size (RFC 8032 §5.1). */
const P = 2n ** 255n - 19n;
/** The order of the base point. */
const L = 2n ** 252n + 27742317777372353535851937790883648493n;

/** y of the points whose order divides 8: with such a key some "signatures" fit any message. */
const SMALL_ORDER_Y = new Set([
  0n,
  1n,
  P - 1n,
  0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n,
  0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n,
]);

/** Whether a point is encoded in the one canonical way and is not of small order. */
export function isSafePoint(encoded: Uint8Array): boolean {
  const y = littleEndian(encoded) & (2n ** 255n - 1n);
  return y < P && !SMALL_ORDER_Y.has(y);
}

/** Whether the second half of a signature is the one canonical number; S + L would verify as well (RFC 8032 §8.4). */
export const hasCanonicalScalar = (signature: Uint8Array): boolean =>
  littleEndian(signature.subarray(32)) < L;

const littleEndian = (bytes: Uint8Array): bigint =>
  BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);

/** A base58 text of exactly `size` bytes; undefined for anything else. Length is bounded before the slow decoding. */
export function readBase58(text: string, size: number): Uint8Array | undefined {
  if (text.length > Math.ceil(size * 1.37)) return undefined;
  const bytes = bs58.decodeUnsafe(text);
  return bytes?.length === size ? bytes : undefined;
}
