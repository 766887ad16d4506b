import type { BinaryOperator } from '@marcbachmann/cel-js';
import {
  BeyondJson,
  type CelValue,
  checkedInt,
  isInt64,
  isMap,
  isNumber,
  keyToText,
  ownKey,
  wordFor,
} from '../values/cel-value.js';
import { compare, equals } from '../values/comparison.js';
import { fail, spend } from '../values/evaluation.js';
import { Duration, Timestamp } from '../values/moments.js';
import { allowLength } from '../values/texts.js';
import type { CompileContext, Expression, Frame, NodeOf } from './compile-context.js';

type Operation = (frame: Frame, left: CelValue, right: CelValue) => CelValue;

const operations: Readonly<Record<BinaryOperator, Operation>> = {
  '==': equals,
  '!=': (frame, left, right) => !equals(frame, left, right),
  in: contains,
  '+': add,
  '-': (_, left, right) => subtract(left, right),
  '*': (_, left, right) => multiply(left, right),
  '/': (_, left, right) => divide(left, right),
  '%': remainder,
  '<': (frame, left, right) => compare(frame, left, right, (a, b) => a < b),
  '<=': (frame, left, right) => compare(frame, left, right, (a, b) => a <= b),
  '>': (frame, left, right) => compare(frame, left, right, (a, b) => a > b),
  '>=': (frame, left, right) => compare(frame, left, right, (a, b) => a >= b),
};

export function compileBinary(node: NodeOf<BinaryOperator>, context: CompileContext): Expression {
  const operation = operations[node.op];
  const left = context.compile(node.args[0], context);
  const right = context.compile(node.args[1], context);
  return (frame) => operation(frame, left(frame), right(frame));
}

/** `-x`; the smallest int is written `-9223372036854775808`, whose digits alone would not fit. */
export function compileNegation(node: NodeOf<'-_'>, context: CompileContext): Expression {
  const operand = node.args;
  if (operand.op === 'value' && typeof operand.args === 'bigint' && isInt64(-operand.args)) {
    const value = -operand.args;
    return () => value;
  }
  const read = context.compile(operand, context);
  return (frame) => negate(read(frame));
}

function negate(value: CelValue): CelValue {
  if (typeof value === 'number') return -value;
  if (typeof value === 'bigint') return checkedInt(-value);
  return fail(`Cannot negate ${value instanceof BeyondJson ? value.kind : wordFor(value)}.`);
}

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
  return fail(() => `Cannot add ${wordFor(left)} and ${wordFor(right)}.${sumHint(left, right)}`);
}

function sumHint(left: CelValue, right: CelValue): string {
  if (Array.isArray(left)) return ' A list takes a list: write "[x]" around an element.';
  const isText = typeof left === 'string' || typeof right === 'string';
  return isText
    ? ' Write "string(x)" around what is no text, or "double(x)" around a text with a number.'
    : '';
}

export function subtract(left: CelValue, right: CelValue): CelValue {
  if (typeof left === 'bigint' && typeof right === 'bigint') return checkedInt(left - right);
  if (isNumber(left) && isNumber(right)) return Number(left) - Number(right);
  if (left instanceof BeyondJson && right instanceof BeyondJson) return subtractMoments(left, right);
  return fail(`Cannot subtract ${wordFor(right)} from ${wordFor(left)}.`);
}

function subtractMoments(left: BeyondJson, right: BeyondJson): CelValue {
  if (left instanceof Timestamp && right instanceof Timestamp) return new Duration(left.nanos - right.nanos);
  if (left instanceof Timestamp && right instanceof Duration) return new Timestamp(left.nanos - right.nanos);
  if (left instanceof Duration && right instanceof Duration) return new Duration(left.nanos - right.nanos);
  return fail(`Cannot subtract ${wordFor(right)} from ${wordFor(left)}.`);
}

export function multiply(left: CelValue, right: CelValue): CelValue {
  if (typeof left === 'bigint' && typeof right === 'bigint') return checkedInt(left * right);
  if (isNumber(left) && isNumber(right)) return Number(left) * Number(right);
  return fail(`Cannot multiply ${wordFor(left)} and ${wordFor(right)}.`);
}

export function divide(left: CelValue, right: CelValue): CelValue {
  if (typeof left === 'bigint' && typeof right === 'bigint')
    return right === 0n ? fail('Division by zero.') : checkedInt(left / right);
  if (isNumber(left) && isNumber(right)) return Number(left) / Number(right);
  return fail(`Cannot divide ${wordFor(left)} by ${wordFor(right)}.`);
}

export function remainder(frame: Frame, left: CelValue, right: CelValue): CelValue {
  if (typeof left === 'bigint' && typeof right === 'bigint')
    return right === 0n ? fail('Division by zero.') : left % right;
  if (isNumber(left) && isNumber(right)) return doubleRemainder(frame, Number(left), Number(right));
  return fail(`Cannot take the remainder of ${wordFor(left)} by ${wordFor(right)}.`);
}

/** The processor takes a step for each binary digit by which one number is larger than the other. */
function doubleRemainder(frame: Frame, left: number, right: number): number {
  const ratio = Math.abs(left / right);
  if (ratio > Number.MAX_SAFE_INTEGER) spend(frame, LARGE_REMAINDER_COST);
  return left % right;
}

const LARGE_REMAINDER_COST = 20;

/** `x in y`: an element of a list, or a key of an object (a number stands for its digits). */
export function contains(frame: Frame, item: CelValue, container: CelValue): boolean {
  if (Array.isArray(container)) {
    spend(frame, container.length);
    return container.some((element) => equals(frame, element, item));
  }
  if (!isMap(container))
    return fail(`The operator "in" needs a list or an object, not ${wordFor(container)}.`);
  return (
    (typeof item === 'string' || isNumber(item)) && ownKey(frame, container, keyToText(item)) !== undefined
  );
}
