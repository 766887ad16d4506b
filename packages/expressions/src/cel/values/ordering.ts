import { type CelValue, isNumber, wordFor } from './cel-value.js';
import type { Work } from './evaluation.js';
import { fail, spend } from './evaluation.js';
import { Duration, Timestamp } from './moments.js';

type Ordered = number | bigint | string | boolean;

/** Applies `<`, `<=`, `>` or `>=` to two numbers, texts (by code point), booleans, times or durations. */
export function compare(
  frame: Work,
  a: CelValue,
  b: CelValue,
  test: (a: Ordered, b: Ordered) => boolean,
): boolean {
  if (isNumber(a) && isNumber(b)) return test(a, b);
  if (typeof a === 'string' && typeof b === 'string') return test(byCodePoint(frame, a, b), 0);
  if (typeof a === 'boolean' && typeof b === 'boolean') return test(a, b);
  if (a instanceof Timestamp && b instanceof Timestamp) return test(a.nanos, b.nanos);
  if (a instanceof Duration && b instanceof Duration) return test(a.nanos, b.nanos);
  const chain = typeof a === 'boolean' ? ' For "a < b < c" write "a < b && b < c".' : '';
  return fail(`Cannot compare ${wordFor(a)} with ${wordFor(b)}.${chain}`);
}

/** UTF-16 order differs from code-point order only where one unit is a surrogate and the other lies above them. */
function byCodePoint(frame: Work, a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  spend(frame, length >> 2);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return aboveSurrogates(x) - aboveSurrogates(y);
  }
  return a.length - b.length;
}

const aboveSurrogates = (unit: number): number => (unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit);
