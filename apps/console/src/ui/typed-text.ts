/** What the text of a field says as a number; undefined where it says none that JSON can carry. A blank text says none. */
export function numberIn(text: string, isWhole = false): number | undefined {
  const number = text.trim() === '' ? Number.NaN : Number(text);
  return (isWhole ? Number.isSafeInteger(number) : Number.isFinite(number)) ? number : undefined;
}

/** The number of a field that may be empty, which gives undefined. @throws RangeError for a text that is no number */
export function readNumber(text: string): number | undefined {
  if (text.trim() === '') return undefined;
  const number = numberIn(text);
  // JSON has neither NaN nor Infinity: it would send null, which removes what is stored.
  if (number === undefined) throw new RangeError(`"${text}" is no number`);
  return number;
}

/** What is said at a field of a number; undefined where nothing is wrong. It may be empty. */
export function whyNoNumber(text: string, isWhole = false): string | undefined {
  if (text.trim() === '' || numberIn(text, isWhole) !== undefined) return undefined;
  return isWhole ? 'Give a whole number.' : 'Give a number.';
}

/** `a, b` as a list, without what is empty; or the list that is there as JSON, for texts that hold what parts others. */
export const listOf = (text: string, parting: string | RegExp = ','): string[] =>
  textsInJson(text) ??
  text
    .split(parting)
    .map((one) => one.trim())
    .filter((one) => one !== '');

/** A list as it is typed, in one line: `listOf` reads the same list in it. */
export function listText(list: readonly string[], parting?: string | RegExp): string {
  const text = list.join(', ');
  const read = listOf(text, parting);
  const isSame = read.length === list.length && read.every((one, at) => one === list[at]);
  return isSame && !/[\r\n]/.test(text) ? text : JSON.stringify(list);
}

function textsInJson(text: string): string[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * An amount in the smallest unit of its asset, in whole units: `50000` with 6 decimals is `0.05`. Exact, whatever its
 * size; groups of three digits are parted by a narrow space.
 */
export function formatAmount(amount: string, decimals: number): string {
  const digits = amount.padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals).replace(/\B(?=(\d{3})+$)/g, '\u202f');
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction.padEnd(2, '0')}`;
}

/** US dollars with two digits, or as many as a small amount needs to be seen: `$12.50`, `$0.00042`. */
export function formatUsd(usd: number): string {
  if (usd === 0) return '$0';
  const digits = Math.abs(usd) >= 0.01 ? 2 : Math.min(12, 1 - Math.floor(Math.log10(Math.abs(usd))));
  return usd.toLocaleString('en', {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}
