import type { ASTNode, BinaryOperator } from '@marcbachmann/cel-js';
import type { CompileContext } from '../compile-context.js';
import type { Expression, Frame } from '../frame.js';
import type { CelValue } from '../values/cel-value.js';
import { equals } from '../values/equality.js';
import { compare } from '../values/ordering.js';
import { add, divide, multiply, remainder, subtract } from './arithmetic.js';
import { contains } from './membership.js';

/** Syntax nodes with this operator. */
export type NodeOf<Op extends ASTNode['op']> = Extract<ASTNode, { op: Op }>;

type Operation = (frame: Frame, left: CelValue, right: CelValue) => CelValue;

const operations: Readonly<Record<BinaryOperator, Operation>> = {
  '==': equals,
  '!=': (frame, left, right) => !equals(frame, left, right),
  in: contains,
  '+': add,
  '-': (_, left, right) => subtract(left, right),
  '*': (_, left, right) => multiply(left, right),
  '/': (_, left, right) => divide(left, right),
  '%': (_, left, right) => remainder(left, right),
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
