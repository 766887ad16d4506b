import { type CelValue, wordFor } from '../values/cel-value.js';
import { EvaluationFailure, fail, spend } from '../values/evaluation.js';
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
