import { type Evaluator, isCleanText, isPollutingKey, type JsonValue } from '@orrery/contracts';
import type { Expression, Frame } from '../cel/nodes/compile-context.js';
import {
  AuthoredFailure,
  BeyondJson,
  type CelValue,
  EvaluationFailure,
  fail,
  orderedKeys,
  valueToText,
} from '../cel/values/cel-value.js';
import { toStrangers } from '../cel/values/telling.js';
import type { Draws } from '../draws/draws.js';

/** A compiled `{{ … }}` and its position. */
export interface Placeholder {
  readonly text: string;
  readonly pointer: string;
  readonly run: Expression;
}

/** A compiled part of a template: writes its JSON. `depth` is its nesting in the result. */
export type TemplateNode = (run: TemplateRun, depth: number) => JsonValue;

/** A template ready to be evaluated; made by `compileTemplate`, opaque to its users. */
export interface CompiledTemplate {
  readonly root: TemplateNode;
  /** Whether it draws random numbers, in some of its evaluations at least. */
  readonly draws: boolean;
}

/** Which placeholder failed, where it stands in the template, and why: for those who may see the template. */
export interface TemplateFailure {
  placeholder: string;
  reason: string;
  pointer: string;
  /** The reason for everybody: of the template's text it holds what an author's `fail()` says, and nothing else. */
  told: string;
  /** Present where an author's `fail()` gave the reason. */
  isAuthored?: true;
}

/** The failure in a sentence, for those who may see the template: what an author says stands for itself. */
export const failureDetail = ({
  placeholder,
  pointer,
  reason,
  isAuthored,
}: Omit<TemplateFailure, 'told'>): string => (isAuthored ? reason : `${placeholder || pointer}: ${reason}`);

export type EvaluationResult = { ok: true; value: JsonValue } | { ok: false; problem: TemplateFailure };

/** Units of about one node of an expression, counted where the amount depends on data: about 20 ms at worst. */
const EVALUATION_WORK = 250_000;
/** Nesting of a template's JSON and of its result, as for all JSON from outside. */
export const MAX_DEPTH = 32;
/** A result fits one journal entry (256 KiB). */
const MAX_CHARACTERS = 262_144;
const MAX_VALUES = 50_000;

/** What an evaluation has beside its values. */
export interface Evaluation {
  /** Random numbers, which a template that draws needs. */
  readonly draws?: Draws | undefined;
  /** The revision of the rules; absent: the present one. */
  readonly evaluator?: Evaluator | undefined;
}

/**
 * Evaluates a template against the values of its names, which must be JSON that the guard has seen. The result is fresh
 * JSON that shares nothing with the scope. Never throws.
 */
export function evaluateTemplate(
  { root }: CompiledTemplate,
  scope: Readonly<Record<string, unknown>>,
  evaluation: Evaluation = {},
): EvaluationResult {
  const run = new TemplateRun(scope, evaluation);
  try {
    return { ok: true, value: root(run, 0) };
  } catch (error) {
    const failure = error instanceof EvaluationFailure ? error : TOO_DEEP;
    const problem: TemplateFailure = {
      placeholder: run.current?.text ?? '',
      reason: failure.reason,
      pointer: run.current?.pointer ?? '',
      told: failure.reasonTold(toStrangers(scope['input'])),
    };
    if (error instanceof AuthoredFailure) problem.isAuthored = true;
    return { ok: false, problem };
  }
}

const TOO_DEEP = new EvaluationFailure('The expression is nested too deeply.', true);

/** One evaluation of a whole template. A result may hold the same part many times, so it is counted as it is written. */
export class TemplateRun {
  readonly frame: Frame;
  /** The placeholder being evaluated, for the failure's report. */
  current: Placeholder | undefined;
  charactersLeft = MAX_CHARACTERS;
  #valuesLeft = MAX_VALUES;

  constructor(scope: Frame['scope'], { draws, evaluator }: Evaluation = {}) {
    this.frame = { scope, locals: [], work: EVALUATION_WORK, draws, evaluator };
  }

  valueOf(placeholder: Placeholder): CelValue {
    this.current = placeholder;
    return placeholder.run(this.frame);
  }

  /** Writes a value out as fresh JSON that shares nothing with what the expression read. */
  toJson(value: CelValue, depth: number): JsonValue {
    if (--this.#valuesLeft < 0 || depth > MAX_DEPTH) tooLarge();
    if (typeof value === 'string') return this.toText(value);
    if (typeof value === 'number' || typeof value === 'bigint') return toJsonNumber(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => this.toJson(item, depth + 1));
    if (value instanceof BeyondJson) return this.toText(valueToText(value));
    const result: Record<string, JsonValue> = {};
    for (const key of orderedKeys(value, this.frame.evaluator))
      result[this.toKey(key)] = this.toJson(value[key] ?? null, depth + 1);
    return result;
  }

  /** Text of a result: U+0000 and lone surrogates are refused as they are at every entrance (docs/gateway.md). */
  toText(text: string): string {
    this.charactersLeft -= text.length;
    if (this.charactersLeft < 0) tooLarge();
    return isCleanText(text) ? text : fail('The result holds U+0000 or a lone surrogate.');
  }

  toKey(key: string): string {
    return isPollutingKey(key) ? fail(`The key "${key}" is not allowed.`) : this.toText(key);
  }
}

export function tooLarge(): never {
  throw new EvaluationFailure('The result is too large.', true);
}

/** A number of a result: JSON numbers are finite IEEE doubles (docs/schemas.md). A 64-bit integer is never rounded. */
function toJsonNumber(value: number | bigint): number {
  const number = Number(value);
  if (!Number.isFinite(number)) return fail('The result is not a finite number.');
  if (typeof value === 'bigint' && BigInt(number) !== value)
    return fail(
      ({ computed }) =>
        `The whole number ${computed(value)} is not exact as a JSON number. Write it as text, with string().`,
    );
  return number === 0 ? 0 : number;
}
