import { compileExpression, expressionCompiler } from '../compile-expression.js';
import { ExpressionFault } from '../nodes/compile-context.js';
import { equals } from '../nodes/operators.js';
import { type CelValue, EvaluationFailure } from '../values/cel-value.js';
import { expectedValue, type SuiteValue } from './expected-value.test-support.js';

/** A test of the suite, as its protobuf JSON has it. */
export interface SuiteCase {
  path: string;
  expr: string;
  value?: SuiteValue;
  evalError?: unknown;
  checkOnly?: boolean;
  typedResult?: { result?: SuiteValue };
  bindings?: Record<string, { value?: SuiteValue }>;
}

/** Passes when an expected error appears on compiling or on evaluating, or the value is the expected one. */
export function passes(test: SuiteCase): boolean {
  const scope: Record<string, CelValue> = {};
  for (const [name, { value = {} }] of Object.entries(test.bindings ?? {})) {
    const bound = expectedValue(value);
    if (bound === undefined) return false;
    scope[name] = bound;
  }
  const compiled = compileExpression(test.expr, expressionCompiler(Object.keys(scope), 1_000));
  if (compiled instanceof ExpressionFault) return test.evalError !== undefined;
  try {
    const frame = { scope, locals: [], work: 100_000 };
    return isExpected(test, compiled(frame));
  } catch (error) {
    if (!(error instanceof EvaluationFailure)) throw error;
    return test.evalError !== undefined;
  }
}

function isExpected(test: SuiteCase, actual: CelValue): boolean {
  if (test.evalError !== undefined) return false;
  if (test.checkOnly === true) return true;
  const expected = expectedValue(test.value ?? test.typedResult?.result ?? { boolValue: true });
  if (expected === undefined) return false;
  if (Number.isNaN(expected)) return Number.isNaN(actual);
  return equals({ work: 100_000 }, actual, expected);
}
