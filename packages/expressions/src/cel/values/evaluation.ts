/** What is left of an evaluation's work. It counts down: when it is used up, the evaluation ends with a failure. */
export interface Work {
  work: number;
}

/**
 * Why an evaluation failed. No `Error`: a stack costs time on the hot path and has no reader. A fatal one is not
 * absorbed by `||`, `&&`, `all` and `exists`. A reason that takes work is a function: most failures in loops are absorbed,
 * and nobody reads them.
 */
export class EvaluationFailure {
  readonly fatal: boolean;
  readonly #reason: Reason;

  constructor(reason: Reason, fatal = false) {
    this.#reason = reason;
    this.fatal = fatal;
  }

  get reason(): string {
    return typeof this.#reason === 'string' ? this.#reason : this.#reason();
  }
}

/** What an author's `fail()` says. No operand that comes after it makes it irrelevant. */
export class AuthoredFailure extends EvaluationFailure {
  constructor(reason: string) {
    super(reason, true);
  }
}

type Reason = string | (() => string);

export function fail(reason: Reason): never {
  throw new EvaluationFailure(reason);
}

/** Pays for work whose amount depends on data; one unit is about one node of an expression. */
export function spend(evaluation: Work, units: number): void {
  evaluation.work -= units;
  if (evaluation.work < 0) throw new EvaluationFailure('The template does more work than is allowed.', true);
}
