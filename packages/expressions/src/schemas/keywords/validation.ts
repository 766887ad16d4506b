import {
  type FieldProblem,
  fieldProblem,
  type JsonObject,
  type JsonValue,
  shownValue,
  toPointer,
} from '@orrery/contracts';
import { PATTERN_WORK, type PatternWork } from '../../patterns/pattern.js';
import { CONTRACT_LIMITS, type Survey } from '../survey/survey-schema.js';

/** One running check of a value. */
export interface Validation {
  work: number;
  readonly patterns: PatternWork;
  depth: number;
  /** Position in the value; kept only while problems are collected. */
  readonly path: (string | number)[];
  /** Null: only the answer counts, and the first problem ends the check. */
  problems: FieldProblem[] | null;
  /** Keys and indexes of the current value that some keyword has evaluated; kept where an `unevaluated…` keyword needs them. */
  seen: Set<string | number> | undefined;
  readonly showsValues: boolean;
}

/** A compiled schema or keyword: returns whether the value satisfies it. */
export type Check = (value: JsonValue, run: Validation) => boolean;

/** Context of compiling one document. */
export interface SchemaContext {
  readonly survey: Survey;
  /** Checks by schema object, so that a schema referred to often, or by itself, is compiled once. */
  readonly compiled: Map<JsonObject, { check: Check }>;
  compile(schema: JsonValue, context: SchemaContext): Check;
}

/** Compiles one keyword, or a group of related ones; undefined when the schema has none of them. */
export type KeywordCompiler = (schema: JsonObject, context: SchemaContext) => Check | undefined;

/** Thrown when a check exceeds its work budget; `checkAgainst` catches it. */
export class TooMuchWork extends Error {}

/** What checks may cost; several of them can share it. */
export interface CheckBudget {
  work: number;
  readonly patterns: PatternWork;
}

export const checkBudget = (): CheckBudget => ({
  work: CONTRACT_LIMITS.work,
  patterns: { left: PATTERN_WORK },
});

const startValidation = (
  problems: FieldProblem[] | null,
  { work, patterns }: CheckBudget,
  showsValues: boolean,
): Validation => ({
  work,
  patterns,
  depth: 0,
  path: [],
  problems,
  seen: undefined,
  showsValues,
});

export function spendOn(run: Validation, units: number): void {
  run.work -= units;
  if (run.work < 0) throw new TooMuchWork();
}

/** Listing the keys of a large object takes longer than most keywords. */
const KEY_COST = 3;

/** Lists the keys of an object and charges for them. */
export function keysOf(run: Validation, object: JsonObject): string[] {
  const keys = Object.keys(object);
  spendOn(run, keys.length * KEY_COST);
  return keys;
}

const SEEN_COST = 2;

/** Adds what one schema evaluated to what another one did. */
export function addSeen(
  run: Validation,
  seen: ReadonlySet<string | number>,
  to: Set<string | number> | undefined,
): void {
  if (to === undefined) return;
  spendOn(run, seen.size * SEEN_COST);
  for (const key of seen) to.add(key);
}

/** Reports a problem with the current value; always false, so that a check can return it. */
export function report(run: Validation, code: string, message: string, key?: string): false {
  if (run.problems !== null && run.problems.length < CONTRACT_LIMITS.problems) {
    const path = key === undefined ? run.path : [...run.path, key];
    run.problems.push(fieldProblem(toPointer(path), code, message));
  }
  return false;
}

/** Reports what the current value should be (a message without a full stop), and what was found. */
export const reportValue = (run: Validation, code: string, message: string, value: JsonValue): false =>
  run.problems === null ? false : report(run, code, `${message}${foundText(value, run.showsValues)}`);

/** The end of a message about a value: `; found the text "7".` */
export const foundText = (value: JsonValue, isShown: boolean): string =>
  isShown ? `; found ${shownValue(value)}.` : '.';

/** Checks a part of the current value, which has keys and indexes of its own. */
export function descend(run: Validation, key: string | number, value: JsonValue, check: Check): boolean {
  const { seen, problems } = run;
  if (seen !== undefined) {
    spendOn(run, SEEN_COST);
    seen.add(key);
  }
  run.seen = undefined;
  if (problems !== null) run.path.push(key);
  const ok = check(value, run);
  if (problems !== null) run.path.pop();
  run.seen = seen;
  return ok;
}

/** Tries a schema on the same value without reporting; what it evaluated counts only if it holds. */
export function fitsQuietly(run: Validation, value: JsonValue, check: Check): boolean {
  spendOn(run, 2);
  const { seen, problems } = run;
  run.problems = null;
  if (seen !== undefined) run.seen = new Set();
  const ok = check(value, run);
  if (ok && run.seen !== undefined) addSeen(run, run.seen, seen);
  run.problems = problems;
  run.seen = seen;
  return ok;
}

/** Runs checks in sequence; where no problems are collected, the first failure ends it. */
export function inSequence(checks: readonly Check[]): Check {
  const cost = 1 + checks.length;
  return (value, run) => {
    enter(run, cost);
    let ok = true;
    for (const check of checks) {
      if (!check(value, run)) ok = false;
      if (!ok && run.problems === null) break;
    }
    run.depth -= 1;
    return ok;
  };
}

function enter(run: Validation, cost: number): void {
  spendOn(run, cost);
  run.depth += 1;
  if (run.depth > CONTRACT_LIMITS.depth) throw new TooMuchWork();
}

/**
 * Returns the rules of a contract that a value breaks: at most 20 problems with pointers into the value. A check that takes
 * too long is a problem too (`too_complex`). Without `showsValues` messages do not repeat what was found, which may be
 * for the eyes of others than those who read them. Never throws.
 */
export function checkAgainst(
  { check }: { readonly check: Check },
  value: JsonValue,
  { showsValues = true, budget = checkBudget() } = {},
): FieldProblem[] {
  const problems: FieldProblem[] = [];
  try {
    if (holds(check, value, startValidation(null, budget, showsValues), budget)) return [];
    holds(
      check,
      value,
      startValidation(problems, { ...budget, patterns: { left: PATTERN_WORK } }, showsValues),
      budget,
    );
  } catch (error) {
    if (!(error instanceof TooMuchWork || error instanceof RangeError)) throw error;
    if (problems.length === 0) return [TOO_COMPLEX];
  }
  return problems.length > 0
    ? problems
    : [fieldProblem('', 'not_allowed', 'The value does not fit the contract.')];
}

/** Runs a check; what it cost is taken from the budget, also when it cost too much. */
function holds(check: Check, value: JsonValue, run: Validation, budget: CheckBudget): boolean {
  try {
    return check(value, run);
  } finally {
    budget.work = run.work;
  }
}

const TOO_COMPLEX = fieldProblem(
  '',
  'too_complex',
  'Checking this value against the contract takes too long.',
);
