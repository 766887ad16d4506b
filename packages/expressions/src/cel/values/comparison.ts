import {
  BeyondJson,
  type CelMap,
  CelType,
  type CelValue,
  isMap,
  isNumber,
  keysOf,
  wordFor,
} from './cel-value.js';
import { fail, spend, type Work } from './evaluation.js';
import { Duration, Timestamp } from './moments.js';
import { spendOnText } from './texts.js';

/** CEL equality: numbers by value whatever their form, other kinds never equal each other; deep, charged to the work. */
export function equals(frame: Work, a: CelValue, b: CelValue): boolean {
  if (typeof a === 'string' && typeof b === 'string') {
    if (a.length === b.length) spendOnText(frame, a.length);
    return a === b;
  }
  if (a === b) return true;
  // biome-ignore lint/suspicious/noDoubleEquals: compares a bigint with a double exactly
  if (isNumber(a) && isNumber(b)) return a == b;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  spend(frame, 1);
  if (Array.isArray(a)) return Array.isArray(b) && equalLists(frame, a, b);
  if (isMap(a)) return isMap(b) && equalMaps(frame, a, b);
  return a instanceof BeyondJson && b instanceof BeyondJson && equalBeyondJson(a, b);
}

function equalLists(frame: Work, a: CelValue[], b: CelValue[]): boolean {
  spend(frame, a.length);
  return a.length === b.length && a.every((item, index) => equals(frame, item, b[index] ?? null));
}

function equalMaps(frame: Work, a: CelMap, b: CelMap): boolean {
  const keys = keysOf(frame, a);
  if (keys.length !== keysOf(frame, b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && equals(frame, a[key] ?? null, b[key] ?? null));
}

function equalBeyondJson(a: BeyondJson, b: BeyondJson): boolean {
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos;
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  return a instanceof CelType && b instanceof CelType && a.name === b.name;
}

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
