import { type CelValue, isNumber, wordFor } from '../values/cel-value.js';
import type { Work } from '../values/evaluation.js';
import { fail } from '../values/evaluation.js';

/** A built-in function; a method's receiver is its first argument. Argument counts were checked on compiling. */
export type Native = (frame: Work, args: readonly CelValue[]) => CelValue;

export const asText = (value: CelValue | undefined): string =>
  typeof value === 'string' ? value : fail(`The function expects text, not ${wordFor(value ?? null)}.`);

export const asNumber = (value: CelValue | undefined): number | bigint =>
  isNumber(value) ? value : fail(`The function expects a number, not ${wordFor(value ?? null)}.`);

/** A whole number argument, from a literal or from JSON. */
export function asWhole(value: CelValue | undefined): number {
  const number = Number(asNumber(value));
  return Number.isSafeInteger(number) ? number : fail('The function expects a whole number.');
}
