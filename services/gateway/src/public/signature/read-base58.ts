import bs58 from 'bs58';

/** A base58 text of exactly `size` bytes; undefined for anything else. Length is bounded before the slow decoding. */
export function readBase58(text: string, size: number): Uint8Array | undefined {
  if (text.length > Math.ceil(size * 1.37)) return undefined;
  const bytes = bs58.decodeUnsafe(text);
  return bytes?.length === size ? bytes : undefined;
}
