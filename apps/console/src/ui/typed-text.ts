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

/** `a, b` as a list; what is empty is left out. */
export const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
