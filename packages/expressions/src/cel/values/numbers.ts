import { fail } from '../frame.js';

const MIN_INT = -(2n ** 63n);
const MAX_INT = 2n ** 63n - 1n;

/** CEL ints are 64-bit: an overflow is a failure, never a wrap. */
export function checkedInt(value: bigint): bigint {
  return value < MIN_INT || value > MAX_INT ? fail('whole number overflow') : value;
}

export const isInt64 = (value: bigint): boolean => value >= MIN_INT && value <= MAX_INT;

/** Decimal text of a number, as it stands in texts, in keys and as an instanceId: `7`, `0.5`, `1e+21`. */
export const numberToText = (value: number | bigint): string => String(Object.is(value, -0) ? 0 : value);

/** A number as a JSON result holds it: finite, and exact when whole (at most 2^53 − 1). */
export function toJsonNumber(value: number | bigint): number {
  const number = Number(value);
  if (!Number.isFinite(number)) return fail('the result is not a finite number');
  if (typeof value === 'bigint' || Number.isInteger(number)) {
    if (Math.abs(number) > Number.MAX_SAFE_INTEGER)
      return fail('the result is a whole number beyond 2^53 - 1');
  }
  return number === 0 ? 0 : number;
}
