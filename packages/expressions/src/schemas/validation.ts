import { type FieldProblem, fieldProblem, type JsonValue, toPointer } from '@orrery/contracts';
import { type PatternWork, patternWork } from '../patterns/pattern-work.js';
import { CONTRACT_LIMITS } from './contract-limits.js';

/** One check of a value under way. */
export interface Validation {
  work: number;
  readonly patterns: PatternWork;
  depth: number;
  /** Where in the value; kept only while problems are collected. */
  readonly path: (string | number)[];
  /** Null: only the answer counts, and the first problem ends the check. */
  problems: FieldProblem[] | null;
  /** Keys and indexes of the current value that some keyword has looked at, when `unevaluated…` wants to know. */
  seen: Set<string | number> | undefined;
}

/** A compiled schema or keyword: does the value satisfy it? */
export type Check = (value: JsonValue, run: Validation) => boolean;

/** Thrown when a check does more than its share of work; whoever starts a check catches it. */
export class TooMuchWork extends Error {}

export const startValidation = (problems: FieldProblem[] | null, work: number): Validation => ({
  work,
  patterns: patternWork(),
  depth: 0,
  path: [],
  problems,
  seen: undefined,
});

export function spendOn(run: Validation, units: number): void {
  run.work -= units;
  if (run.work < 0) throw new TooMuchWork();
}

/** Reports a problem with the current value; always false, so that a check can return it. */
export function report(run: Validation, code: string, message: string, key?: string): false {
  if (run.problems !== null && run.problems.length < CONTRACT_LIMITS.problems) {
    const path = key === undefined ? run.path : [...run.path, key];
    run.problems.push(fieldProblem(toPointer(path), code, message));
  }
  return false;
}

/** Checks a part of the current value, which has keys and indexes of its own. */
export function descend(run: Validation, key: string | number, value: JsonValue, check: Check): boolean {
  const { seen, problems } = run;
  seen?.add(key);
  run.seen = undefined;
  if (problems !== null) run.path.push(key);
  const ok = check(value, run);
  if (problems !== null) run.path.pop();
  run.seen = seen;
  return ok;
}

/** Tries a schema on the same value without reporting; what it looked at counts only if it holds. */
export function attempt(run: Validation, value: JsonValue, check: Check): boolean {
  spendOn(run, 2);
  const { seen, problems } = run;
  run.problems = null;
  if (seen !== undefined) run.seen = new Set();
  const ok = check(value, run);
  if (ok && seen !== undefined) for (const key of run.seen ?? []) seen.add(key);
  run.problems = problems;
  run.seen = seen;
  return ok;
}
