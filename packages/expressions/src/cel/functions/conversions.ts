import {
  BeyondJson,
  type CelValue,
  checkedInt,
  Duration,
  fail,
  isInt64,
  isNumber,
  NANOS_PER_SECOND,
  parseDuration,
  parseTimestamp,
  spend,
  Timestamp,
  typeOf,
  valueToText,
  type Work,
  wordFor,
} from '../values/cel-value.js';

/** A built-in function; a method's receiver is its first argument. Argument counts were checked on compiling. */
export type Native = (frame: Work, args: readonly CelValue[]) => CelValue;

export const asText = (value: CelValue | undefined): string =>
  typeof value === 'string' ? value : fail(`The function expects text, not ${wordFor(value ?? null)}.`);

const asNumber = (value: CelValue | undefined): number | bigint =>
  isNumber(value) ? value : fail(`The function expects a number, not ${wordFor(value ?? null)}.`);

/** A whole number argument, from a literal or from JSON. */
export function asWhole(value: CelValue | undefined): number {
  const number = Number(asNumber(value));
  return Number.isSafeInteger(number) ? number : fail('The function expects a whole number.');
}

/** To read a number from text, or to write one, takes as long as so many nodes of an expression. */
const NUMBER_COST = 4;
const MOMENT_COST = 20;

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const SPECIAL: ReadonlyMap<string, number> = new Map([
  ['nan', Number.NaN],
  ['inf', Number.POSITIVE_INFINITY],
  ['infinity', Number.POSITIVE_INFINITY],
  ['+inf', Number.POSITIVE_INFINITY],
  ['-inf', Number.NEGATIVE_INFINITY],
  ['-infinity', Number.NEGATIVE_INFINITY],
]);

const cannot = (value: CelValue, what: string): never =>
  fail(`Cannot turn ${typeof value === 'string' ? 'this text' : wordFor(value)} into ${what}.`);

/** A 64-bit whole number; decimals are cut off. */
export const toInt: Native = (frame, [value = null]) => {
  if (typeof value === 'string') spend(frame, NUMBER_COST);
  const int = readInt(value);
  return isInt64(int) ? int : fail('The number does not fit 64 bits.');
};

function readInt(value: CelValue): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return truncated(value);
  if (typeof value === 'string' && /^[+-]?\d{1,19}$/.test(value)) return BigInt(value.replace('+', ''));
  if (value instanceof Timestamp) return value.nanos / NANOS_PER_SECOND;
  return cannot(value, 'a whole number');
}

/** Doubles beyond ±2^63 are out of range, the bounds themselves included, as the CEL specification has it. */
function truncated(value: number): bigint {
  if (!(Math.abs(value) < 2 ** 63)) return fail('The number does not fit 64 bits.');
  return BigInt(Math.trunc(value));
}

export const toDouble: Native = (frame, [value = null]) => {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'string' || value.length > 100) return cannot(value, 'a number');
  spend(frame, NUMBER_COST);
  const special = SPECIAL.get(value.toLowerCase());
  if (special !== undefined) return special;
  return DECIMAL.test(value) ? Number(value) : cannot(value, 'a number');
};

const TRUE = ['1', 't', 'true', 'TRUE', 'True'];
const FALSE = ['0', 'f', 'false', 'FALSE', 'False'];

export const toBool: Native = (_, [value = null]) => {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string' && TRUE.includes(value)) return true;
  if (typeof value === 'string' && FALSE.includes(value)) return false;
  return cannot(value, 'a boolean');
};

export const toText: Native = (frame, [value = null]) => {
  if (value instanceof BeyondJson) spend(frame, MOMENT_COST);
  if (isNumber(value)) spend(frame, NUMBER_COST);
  return valueToText(value);
};

export const toType: Native = (_, [value = null]) => typeOf(value);

/** RFC 3339 text, or whole seconds since 1970. */
export const toTimestamp: Native = (frame, [value = null]) => {
  if (value instanceof Timestamp) return value;
  if (isNumber(value)) return new Timestamp(BigInt(asWhole(value)) * NANOS_PER_SECOND);
  if (typeof value !== 'string') return fail(`Cannot turn ${wordFor(value)} into a time.`);
  spend(frame, MOMENT_COST);
  return parseTimestamp(value);
};

export const toDuration: Native = (frame, [value = null]) => {
  if (value instanceof Duration) return value;
  if (typeof value !== 'string') return fail(`Cannot turn ${wordFor(value)} into a duration.`);
  spend(frame, MOMENT_COST);
  return parseDuration(value);
};

/** A function of one number; whole numbers written in the expression stay as they are unless `onInt` says else. */
const ofNumber =
  (onDouble: (value: number) => CelValue, onInt: (value: bigint) => CelValue = (value) => value): Native =>
  (_, [argument]) => {
    const value = asNumber(argument);
    return typeof value === 'bigint' ? onInt(value) : onDouble(value);
  };

/** Half away from zero, as CEL rounds. */
const round = (value: number): number => Math.sign(value) * Math.round(Math.abs(value));

export const mathFunctions: ReadonlyMap<string, Native> = new Map([
  ['abs/1', ofNumber(Math.abs, (value) => checkedInt(value < 0n ? -value : value))],
  ['ceil/1', ofNumber(Math.ceil)],
  ['floor/1', ofNumber(Math.floor)],
  ['round/1', ofNumber(round)],
  ['trunc/1', ofNumber(Math.trunc)],
  ['sign/1', ofNumber(Math.sign, (value) => (value > 0n ? 1n : value < 0n ? -1n : 0n))],
  ['sqrt/1', ofNumber(Math.sqrt, (value) => Math.sqrt(Number(value)))],
  ['isNaN/1', ofNumber(Number.isNaN, () => false)],
  [
    'isInf/1',
    ofNumber(
      (value) => !Number.isFinite(value) && !Number.isNaN(value),
      () => false,
    ),
  ],
  ['isFinite/1', ofNumber(Number.isFinite, () => true)],
]);

/** `math.greatest` and `math.least`: of several numbers, or of one list of numbers. */
const extreme =
  (better: (a: number | bigint, b: number | bigint) => boolean): Native =>
  (frame, args) => {
    const [first] = args;
    const values = args.length === 1 && Array.isArray(first) ? first : args;
    if (values.length === 0) return fail('The list is empty.');
    spend(frame, values.length);
    return values.map(asNumber).reduce((best, value) => (better(value, best) ? value : best));
  };

export const variadicMath: ReadonlyMap<string, Native> = new Map([
  ['greatest', extreme((a, b) => a > b)],
  ['least', extreme((a, b) => a < b)],
]);
