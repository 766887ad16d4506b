import {
  type Evaluator,
  type FieldProblem,
  fieldProblem,
  type JsonObject,
  type JsonValue,
  type ProblemCode,
  shownValue,
  toPointer,
} from '@orrery/contracts';
import { orderedKeys } from '../../cel/values/cel-value.js';
import { COMPARISONS, type Comparisons } from '../../messages/comparisons.js';
import { PATTERN_WORK, type Pattern, type PatternWork, testWithin } from '../../patterns/pattern.js';
import { CONTRACT_LIMITS, type Survey } from '../survey/survey-schema.js';

/** A compiled schema or keyword: returns whether the value satisfies it. */
export type Check = (value: JsonValue, run: Validation) => boolean;

/** Context of compiling one document. */
export interface SchemaContext {
  readonly survey: Survey;
  compile(schema: JsonValue): Check;
}

/** Compiles one keyword, or a group of related ones; undefined when the schema has none of them. */
export type KeywordCompiler = (schema: JsonObject, context: SchemaContext) => Check | undefined;

/** Thrown to end a check that exceeds its work budget, or has found all problems that are told; `checkAgainst` catches it. */
class CheckEnded extends Error {}

/** What checks may cost; several of them can share it. */
export interface CheckBudget {
  work: number;
  readonly patterns: PatternWork;
  readonly comparisons: Comparisons;
}

export const checkBudget = (): CheckBudget => ({
  work: CONTRACT_LIMITS.work,
  patterns: { left: PATTERN_WORK },
  comparisons: { left: COMPARISONS },
});

/** Listing the keys of a large object takes longer than most keywords. */
const KEY_COST = 3;
const SEEN_COST = 2;

/** One running check of a value. */
export class Validation {
  work: number;
  patterns: PatternWork;
  /** For the suggestions in messages. */
  readonly comparisons: Comparisons;
  /** Null: only the answer counts, and the first problem ends the check. */
  problems: FieldProblem[] | null = null;
  /** Position in the value; kept only while problems are collected. */
  readonly path: (string | number)[] = [];
  /** Keys and indexes of the current value that some keyword has evaluated; kept where an `unevaluated…` keyword needs them. */
  seen: Set<string | number> | undefined = undefined;
  readonly showsValues: boolean;
  readonly evaluator: Evaluator | undefined;
  #depth = 0;

  constructor({ work, patterns, comparisons }: CheckBudget, showsValues: boolean, evaluator?: Evaluator) {
    this.work = work;
    this.patterns = patterns;
    this.comparisons = comparisons;
    this.showsValues = showsValues;
    this.evaluator = evaluator;
  }

  spend(units: number): void {
    this.work -= units;
    if (this.work < 0) throw new CheckEnded();
  }

  /** Lists the keys of an object and charges for them: where a check ends early, their order says what it has cost. */
  keysOf(object: JsonObject): readonly string[] {
    const keys = orderedKeys(object, this.evaluator);
    this.spend(keys.length * KEY_COST);
    return keys;
  }

  /** Charges for testing a pattern, then tests it. */
  matches(pattern: Pattern, text: string): boolean {
    this.spend(1);
    const outcome = testWithin(pattern, text, this.patterns);
    if (outcome === undefined) throw new CheckEnded();
    return outcome;
  }

  /** Adds what one schema evaluated to what another one did. */
  addSeen(seen: ReadonlySet<string | number>, to: Set<string | number> | undefined): void {
    if (to === undefined) return;
    this.spend(seen.size * SEEN_COST);
    for (const key of seen) to.add(key);
  }

  /**
   * Reports a problem with the current value; always false, so that a check can return it. The last that is told ends the
   * check: whoever breaks a rule thousands of times has no more of them put into words.
   */
  report(code: ProblemCode, message: string, key?: string): false {
    if (this.problems === null) return false;
    const path = key === undefined ? this.path : [...this.path, key];
    this.problems.push(fieldProblem(toPointer(path), code, message));
    if (this.problems.length >= CONTRACT_LIMITS.problems) throw new CheckEnded();
    return false;
  }

  /** Reports what the current value should be (a message without a full stop), and what was found. */
  reportValue(code: ProblemCode, message: string, value: JsonValue): false {
    if (this.problems === null) return false;
    return this.report(code, `${message}${foundText(value, this.showsValues)}`);
  }

  /** Whether all parts hold. Where no problems are collected, the first that does not ends it. */
  every<T>(parts: Iterable<T>, holds: (part: T) => boolean): boolean {
    let ok = true;
    for (const part of parts) {
      if (!holds(part)) ok = false;
      if (!ok && this.problems === null) break;
    }
    return ok;
  }

  /** All checks of one schema on the current value. */
  everyCheck(checks: readonly Check[], value: JsonValue): boolean {
    this.spend(1 + checks.length);
    this.#depth += 1;
    if (this.#depth > CONTRACT_LIMITS.depth) throw new CheckEnded();
    let ok = true;
    for (const check of checks) {
      if (!check(value, this)) ok = false;
      if (!ok && this.problems === null) break;
    }
    this.#depth -= 1;
    return ok;
  }

  /** Checks a part of the current value, which has keys and indexes of its own. */
  descend(key: string | number, value: JsonValue, check: Check): boolean {
    const { seen, problems } = this;
    if (seen !== undefined) {
      this.spend(SEEN_COST);
      seen.add(key);
    }
    this.seen = undefined;
    if (problems !== null) this.path.push(key);
    const ok = check(value, this);
    if (problems !== null) this.path.pop();
    this.seen = seen;
    return ok;
  }

  /** Tries a schema on the same value without reporting; what it evaluated counts only if it holds. */
  fitsQuietly(value: JsonValue, check: Check): boolean {
    this.spend(2);
    const { seen, problems } = this;
    this.problems = null;
    if (seen !== undefined) this.seen = new Set();
    const ok = check(value, this);
    if (ok && this.seen !== undefined) this.addSeen(this.seen, seen);
    this.problems = problems;
    this.seen = seen;
    return ok;
  }
}

/** All checks of one schema as one. */
export const together =
  (checks: readonly Check[]): Check =>
  (value, run) =>
    run.everyCheck(checks, value);

/** The end of a message about a value: `; found the text "7".` */
export const foundText = (value: JsonValue, isShown: boolean): string =>
  isShown ? `; found ${shownValue(value)}.` : '.';

interface CheckOptions {
  readonly showsValues?: boolean;
  readonly budget?: CheckBudget;
  /** The revision of the rules; absent: the present one. */
  readonly evaluator?: Evaluator | undefined;
}

/**
 * Returns the rules of a contract that a value breaks: at most 20 problems with pointers into the value. A check that takes
 * too long is a problem too (`too_complex`). Without `showsValues` messages do not repeat what was found, which may be
 * for the eyes of others than those who read them. Never throws.
 */
export function checkAgainst(
  { check }: { readonly check: Check },
  value: JsonValue,
  { showsValues = true, budget = checkBudget(), evaluator }: CheckOptions = {},
): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const run = new Validation(budget, showsValues, evaluator);
  try {
    if (check(value, run)) return [];
    run.problems = problems;
    run.patterns = { left: PATTERN_WORK };
    check(value, run);
  } catch (error) {
    if (!(error instanceof CheckEnded || error instanceof RangeError)) throw error;
    if (problems.length === 0) return [TOO_COMPLEX];
  } finally {
    budget.work = run.work;
  }
  return problems.length > 0
    ? problems
    : [fieldProblem('', 'not_allowed', 'The value does not fit the contract.')];
}

const TOO_COMPLEX = fieldProblem(
  '',
  'too_complex',
  'Checking this value against the contract takes too long.',
);
