const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Base58 as Bitcoin and Solana write it: each zero byte at the start is a `1`. For keys and signatures: it is quadratic. */
export function base58(bytes: Uint8Array): string {
  let number = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  let text = '';
  for (; number > 0n; number /= 58n) text = ALPHABET.charAt(Number(number % 58n)) + text;
  const firstOther = bytes.findIndex((byte) => byte !== 0);
  return '1'.repeat(firstOther < 0 ? bytes.length : firstOther) + text;
}
