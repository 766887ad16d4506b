/**
 * A value as it is typed: JSON where it is JSON, otherwise the text itself. A whole number that JSON would change is a
 * text, too.
 */
export function readValue(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    const isExact = typeof value !== 'number' || Number.isSafeInteger(value) || !/^-?\d+$/.test(text);
    return isExact ? value : text;
  } catch {
    return text;
  }
}
