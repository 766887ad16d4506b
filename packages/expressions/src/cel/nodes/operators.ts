import type { ASTNode, BinaryOperator } from '@marcbachmann/cel-js';
import {
  BeyondJson,
  type CelMap,
  CelType,
  type CelValue,
  checkedInt,
  countKeys,
  Duration,
  EvaluationFailure,
  fail,
  isInt64,
  isMap,
  isNumber,
  keysOf,
  keyToText,
  ownKey,
  spend,
  Timestamp,
  type Work,
  wordFor,
} from '../values/cel-value.js';
import { allowLength, byCodePoint, spendOnText } from '../values/texts.js';
import type { CompileContext, Expression, Frame, NodeOf } from './compile-context.js';

/** A failure that the other operand, or another element, may make irrelevant. */
export type Outcome = boolean | EvaluationFailure;

const FAILURE_COST = 40;

/** Evaluates to a boolean, or to the failure that it ended in; fatal ones go through. */
export function outcomeOf(expression: Expression, frame: Frame): Outcome {
  try {
    return toBoolean(expression(frame));
  } catch (error) {
    if (!(error instanceof EvaluationFailure) || error.fatal) throw error;
    spend(frame, FAILURE_COST);
    return error;
  }
}

export const toBoolean = (value: CelValue): boolean =>
  typeof value === 'boolean'
    ? value
    : fail(
        () =>
          `A condition must be true or false, not ${wordFor(value)}. Compare the value, as in "input.n > 0"; ` +
          'a default for an absent one is "has(input.n) ? input.n : 0".',
      );

/** `a && b` and `a || b` are symmetric in CEL: either operand may decide, even when the other one fails. */
export function compileLogic(node: NodeOf<'&&' | '||'>, context: CompileContext): Expression {
  const deciding = node.op === '||';
  const left = context.compile(node.args[0], context);
  const right = context.compile(node.args[1], context);
  return (frame) => {
    const first = outcomeOf(left, frame);
    if (first === deciding) return deciding;
    const second = typeof first === 'boolean' ? toBoolean(right(frame)) : outcomeOf(right, frame);
    if (second === deciding) return deciding;
    if (typeof first !== 'boolean') throw first;
    return !deciding;
  };
}

export function compileNot(node: NodeOf<'!_'>, context: CompileContext): Expression {
  const operand = context.compile(node.args, context);
  return (frame) => !toBoolean(operand(frame));
}

/** `condition ? a : b`; only the chosen side is evaluated. */
export function compileChoice(node: NodeOf<'?:'>, context: CompileContext): Expression {
  const [condition, yes, no] = node.args.map((part) => context.compile(part, context)) as [
    Expression,
    Expression,
    Expression,
  ];
  return (frame) => (toBoolean(condition(frame)) ? yes(frame) : no(frame));
}

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

export const isBinary = (node: ASTNode): node is NodeOf<BinaryOperator> => node.op in operations;

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
function add(frame: Frame, left: CelValue, right: CelValue): CelValue {
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

function subtract(left: CelValue, right: CelValue): CelValue {
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

function multiply(left: CelValue, right: CelValue): CelValue {
  if (typeof left === 'bigint' && typeof right === 'bigint') return checkedInt(left * right);
  if (isNumber(left) && isNumber(right)) return Number(left) * Number(right);
  return fail(`Cannot multiply ${wordFor(left)} and ${wordFor(right)}.`);
}

function divide(left: CelValue, right: CelValue): CelValue {
  if (typeof left === 'bigint' && typeof right === 'bigint')
    return right === 0n ? fail('Division by zero.') : checkedInt(left / right);
  if (isNumber(left) && isNumber(right)) return Number(left) / Number(right);
  return fail(`Cannot divide ${wordFor(left)} by ${wordFor(right)}.`);
}

function remainder(frame: Frame, left: CelValue, right: CelValue): CelValue {
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
function contains(frame: Frame, item: CelValue, container: CelValue): boolean {
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
  if (keys.length !== countKeys(frame, b)) return false;
  return keys.every((key) => Object.hasOwn(b, key) && equals(frame, a[key] ?? null, b[key] ?? null));
}

function equalBeyondJson(a: BeyondJson, b: BeyondJson): boolean {
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos;
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  return a instanceof CelType && b instanceof CelType && a.name === b.name;
}

type Ordered = number | bigint | string | boolean;

/** Applies `<`, `<=`, `>` or `>=` to two numbers, texts (by code point), booleans, times or durations. */
function compare(frame: Work, a: CelValue, b: CelValue, test: (a: Ordered, b: Ordered) => boolean): boolean {
  if (isNumber(a) && isNumber(b)) return test(a, b);
  if (typeof a === 'string' && typeof b === 'string') return test(comparePaid(frame, a, b), 0);
  if (typeof a === 'boolean' && typeof b === 'boolean') return test(a, b);
  if (a instanceof Timestamp && b instanceof Timestamp) return test(a.nanos, b.nanos);
  if (a instanceof Duration && b instanceof Duration) return test(a.nanos, b.nanos);
  const chain = typeof a === 'boolean' ? ' For "a < b < c" write "a < b && b < c".' : '';
  return fail(`Cannot compare ${wordFor(a)} with ${wordFor(b)}.${chain}`);
}

function comparePaid(frame: Work, a: string, b: string): number {
  spend(frame, Math.min(a.length, b.length) >> 2);
  return byCodePoint(a, b);
}
