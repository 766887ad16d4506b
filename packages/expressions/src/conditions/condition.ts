import type { ASTNode } from '@marcbachmann/cel-js';
import { type CompilePart, compileParts, expressionCompiler } from '../cel/compile-expression.js';
import {
  EXPRESSION_LIMITS,
  type Expression,
  ExpressionFault,
  type Frame,
  fault,
} from '../cel/nodes/compile-context.js';
import { AuthoredFailure, EvaluationFailure, spend, type Work } from '../cel/values/cel-value.js';
import { formOf, type TestForm } from './test-form.js';

/**
 * What instances satisfy or not: tests, joined by `&&`, `||` and `!`. A test that cannot be made (an attribute is missing,
 * the kinds do not fit) is false, so each part of a condition is either true or false.
 */
export type Condition =
  | { readonly kind: 'and' | 'or'; readonly parts: readonly [Condition, Condition] }
  | { readonly kind: 'not'; readonly part: Condition }
  | ConditionTest;

export interface ConditionTest {
  readonly kind: 'test';
  readonly run: Expression;
  /** Units of work that it takes at least: about one for each of its parts. */
  readonly weight: number;
  /** The test as data, for those who can make it without an evaluation; undefined for all other tests. */
  readonly form: TestForm | undefined;
}

export interface ConditionProblem {
  readonly code: 'invalid_condition' | 'random_not_allowed';
  readonly message: string;
  /** Where it is in the text, in UTF-16 units. */
  readonly offset: number;
}

/** Names of a condition over instances: the state, and the instanceId. */
export const CONDITION_NAMES: readonly string[] = ['instance', 'id'];

/** Names of a condition in `readEntities`: those, and the input of the execution. */
export const SEARCH_NAMES: readonly string[] = [...CONDITION_NAMES, 'input'];

/** Compiles a CEL condition over `names`. Never throws; bounded as every expression is. */
export function compileCondition(
  source: string,
  names: readonly string[] = CONDITION_NAMES,
):
  | { readonly ok: true; readonly condition: Condition }
  | { readonly ok: false; readonly problem: ConditionProblem } {
  const compiler = expressionCompiler(names, EXPRESSION_LIMITS.nodes);
  const condition = compileParts(source, compiler, build);
  if (!(condition instanceof ExpressionFault)) return { ok: true, condition };
  const { message, offset } = condition;
  const code = condition.code === 'random_not_allowed' ? condition.code : 'invalid_condition';
  return { ok: false, problem: { code, message, offset } };
}

function build(node: ASTNode, compile: CompilePart): Condition {
  if (node.op === '&&' || node.op === '||') {
    const parts = [build(node.args[0], compile), build(node.args[1], compile)] as const;
    return { kind: node.op === '&&' ? 'and' : 'or', parts };
  }
  if (node.op === '!_') return { kind: 'not', part: build(node.args, compile) };
  if (isNoTest(node))
    fault(
      'template_syntax',
      'A condition is true or false, as in "instance.wins > 3 && !instance.injured".',
      node,
    );
  return { kind: 'test', run: compile(node), weight: 1 + ((node.end - node.start) >> 3), form: formOf(node) };
}

const NO_TESTS: ReadonlySet<string> = new Set(['list', 'map', '-_', '+', '-', '*', '/', '%']);

/** What can be seen to be neither true nor false, so that no instance would satisfy it. */
const isNoTest = (node: ASTNode): boolean =>
  NO_TESTS.has(node.op) ||
  (node.op === 'value' && typeof node.args !== 'boolean') ||
  (node.op === 'id' && SEARCH_NAMES.includes(node.args));

/**
 * Whether the values of the names satisfy the condition. Takes from `budget`; undefined when that is used up. The values
 * must be JSON that the guard has seen.
 */
export function satisfies(
  condition: Condition,
  scope: Readonly<Record<string, unknown>>,
  budget: Work,
): boolean | undefined {
  const frame: Frame = { scope, locals: [], work: budget.work, evaluator: budget.evaluator };
  try {
    return holds(condition, frame);
  } catch (error) {
    if (error instanceof EvaluationFailure) return undefined;
    throw error;
  } finally {
    budget.work = frame.work;
  }
}

function holds(condition: Condition, frame: Frame): boolean {
  switch (condition.kind) {
    case 'and':
      return condition.parts.every((part) => holds(part, frame));
    case 'or':
      return condition.parts.some((part) => holds(part, frame));
    case 'not':
      return !holds(condition.part, frame);
    default:
      return passes(condition, frame);
  }
}

/** A test that fails is false, also by `fail()`: a query answers with instances, so its text would reach nobody. */
function passes({ run, weight }: ConditionTest, frame: Frame): boolean {
  spend(frame, weight);
  try {
    return run(frame) === true;
  } catch (error) {
    if (!(error instanceof EvaluationFailure)) throw error;
    if (error.fatal && !(error instanceof AuthoredFailure)) throw error;
    return false;
  }
}
