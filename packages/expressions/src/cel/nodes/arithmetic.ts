import { type Frame, fail, spend } from '../frame.js';
import { BeyondJson, type CelValue, isNumber, wordFor } from '../values/cel-value.js';
import { Duration, Timestamp } from '../values/moments.js';
import { checkedInt } from '../values/numbers.js';
import { allowLength } from '../values/texts.js';

/**
 * Numbers: two whole numbers written in the expression are 64-bit ints as in CEL; as soon as one side comes from JSON
 * (a double), the other becomes a double too.
 */
export function add(frame: Frame, left: CelValue, right: CelValue): CelValue {
  if (typeof left === 'number' && typeof right === 'number') return left + right;
  if (typeof left === 'string' && typeof right === 'string') {
    allowLength(frame, left.length + right.length);
    return left + right;
  }
  if (typeof left === 'bigint' && typeof right === 'bigint') return checkedInt(left + right);
  if (isNumber(left) && isNumber(right)) return Number(left) + Number(right);
  if (Array.isArray(left) && Array.isArray(right)) {
    spend(frame, left.length + right.length);
    return [...left, ...right];
  }
  return addMoments(left, right);
}

function addMoments(left: CelValue, right: CelValue): CelValue {
  if (left instanceof Timestamp && right instanceof Duration) return new Timestamp(left.nanos + right.nanos);
  if (left instanceof Duration && right instanceof Timestamp) return new Timestamp(left.nanos + right.nanos);
  if (left instanceof Duration && right instanceof Duration) return new Duration(left.nanos + right.nanos);
  return fail(`cannot add ${wordFor(left)} and ${wordFor(right)}`);
}

export function subtract(left: CelValue, right: CelValue): CelValue {
  if (typeof left === 'bigint' && typeof right === 'bigint') return checkedInt(left - right);
  if (isNumber(left) && isNumber(right)) return Number(left) - Number(right);
  if (left instanceof BeyondJson && right instanceof BeyondJson) return subtractMoments(left, right);
  return fail(`cannot subtract ${wordFor(right)} from ${wordFor(left)}`);
}

function subtractMoments(left: BeyondJson, right: BeyondJson): CelValue {
  if (left instanceof Timestamp && right instanceof Timestamp) return new Duration(left.nanos - right.nanos);
  if (left instanceof Timestamp && right instanceof Duration) return new Timestamp(left.nanos - right.nanos);
  if (left instanceof Duration && right instanceof Duration) return new Duration(left.nanos - right.nanos);
  return fail(`cannot subtract ${wordFor(right)} from ${wordFor(left)}`);
}

export function multiply(left: CelValue, right: CelValue): CelValue {
  if (typeof left === 'bigint' && typeof right === 'bigint') return checkedInt(left * right);
  if (isNumber(left) && isNumber(right)) return Number(left) * Number(right);
  return fail(`cannot multiply ${wordFor(left)} and ${wordFor(right)}`);
}

export function divide(left: CelValue, right: CelValue): CelValue {
  if (typeof left === 'bigint' && typeof right === 'bigint')
    return right === 0n ? fail('division by zero') : checkedInt(left / right);
  if (isNumber(left) && isNumber(right)) return Number(left) / Number(right);
  return fail(`cannot divide ${wordFor(left)} by ${wordFor(right)}`);
}

export function remainder(left: CelValue, right: CelValue): CelValue {
  if (typeof left === 'bigint' && typeof right === 'bigint')
    return right === 0n ? fail('division by zero') : left % right;
  if (isNumber(left) && isNumber(right)) return Number(left) % Number(right);
  return fail(`cannot take the remainder of ${wordFor(left)} by ${wordFor(right)}`);
}
