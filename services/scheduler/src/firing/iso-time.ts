/** Texts that are remembered. */
const MAX_KNOWN = 100;
const known = new Map<number, string>();

/**
 * A time in milliseconds since the epoch as ISO 8601 text. What is due at one time names it many times over, so its text is
 * made once.
 */
export function isoTime(ms: number): string {
  const before = known.get(ms);
  if (before !== undefined) return before;
  const text = new Date(ms).toISOString();
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(ms, text);
  return text;
}
