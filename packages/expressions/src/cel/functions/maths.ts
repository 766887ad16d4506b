import { type CelValue, checkedInt } from '../values/cel-value.js';
import { fail, spend } from '../values/evaluation.js';
import { asNumber, type Native } from './native.js';

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
