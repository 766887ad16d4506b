const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A number written with 62 digits, padded with zeros on the left to `width`. */
export function base62(value: bigint, width: number): string {
  let text = '';
  for (let rest = value; rest > 0n; rest /= 62n) text = `${DIGITS[Number(rest % 62n)]}${text}`;
  return text.padStart(width, '0');
}

/** The number that up to eight such digits write; more would not be safe integers. */
export function numberOfBase62(text: string): number {
  let value = 0;
  for (let at = 0; at < text.length; at += 1) value = value * 62 + DIGITS.indexOf(text.charAt(at));
  return value;
}
