import { fail } from '../frame.js';
import { type CelValue, wordFor } from './cel-value.js';
import { Duration, durationToText, Timestamp, timestampToText } from './moments.js';
import { numberToText } from './numbers.js';

/** `string(x)`: text, numbers, booleans, times and durations; anything else is a failure. */
export function valueToText(value: CelValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint') return numberToText(value);
  if (typeof value === 'boolean') return String(value);
  if (value instanceof Timestamp) return timestampToText(value);
  if (value instanceof Duration) return durationToText(value);
  return fail(`cannot turn ${wordFor(value)} into text`);
}

/** A key of an object: keys are text, a number stands for its digits (as in a `filter`). */
export function keyToText(value: CelValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint') return numberToText(value);
  return fail(`a key must be text or a number, not ${wordFor(value)}`);
}
