import { isCleanText, isPollutingKey, type JsonValue } from '@orrery/contracts';
import type { Expression, Frame } from '../cel/nodes/compile-context.js';
import { BeyondJson, type CelMap, type CelValue, valueToText } from '../cel/values/cel-value.js';
import { AuthoredFailure, EvaluationFailure, fail } from '../cel/values/evaluation.js';
import { TEMPLATE_LIMITS } from './template-compiler.js';

/** A compiled `{{ … }}` and its position. */
export interface Placeholder {
  readonly text: string;
  readonly pointer: string;
  readonly run: Expression;
}

/** One evaluation of a whole template. */
export interface TemplateRun {
  readonly frame: Frame;
  readonly left: ResultLimits;
  /** The placeholder being evaluated, for the failure's report. */
  current: Placeholder | undefined;
}

/** A compiled part of a template: writes its JSON. `depth` is its nesting in the result. */
export type TemplateNode = (run: TemplateRun, depth: number) => JsonValue;

/** A template ready to be evaluated; made by `compileTemplate`, opaque to its users. */
export interface CompiledTemplate {
  readonly root: TemplateNode;
}

/** Which placeholder failed, where it stands in the template, and why. */
export interface TemplateFailure {
  placeholder: string;
  reason: string;
  pointer: string;
  /** Present where an author's `fail()` gave the reason. */
  isAuthored?: true;
}

/** The failure as a caller is told it: what an author says stands for itself. */
export const failureDetail = ({ placeholder, pointer, reason, isAuthored }: TemplateFailure): string =>
  isAuthored ? reason : `${placeholder || pointer}: ${reason}`;

export type EvaluationResult = { ok: true; value: JsonValue } | { ok: false; problem: TemplateFailure };

/** Units of about one node of an expression, counted where the amount depends on data: about 20 ms at worst. */
const EVALUATION_WORK = 250_000;
/** A result fits one journal entry (256 KiB). */
const RESULT_LIMITS: ResultLimits = { values: 50_000, characters: 262_144, maxDepth: TEMPLATE_LIMITS.depth };

/**
 * Evaluates a template against the values of its names, which must be JSON that the guard has seen. The result is fresh
 * JSON that shares nothing with the scope. Never throws.
 */
export function evaluateTemplate(
  { root }: CompiledTemplate,
  scope: Readonly<Record<string, unknown>>,
): EvaluationResult {
  const run: TemplateRun = {
    frame: { scope, locals: [], work: EVALUATION_WORK },
    left: { ...RESULT_LIMITS },
    current: undefined,
  };
  try {
    return { ok: true, value: root(run, 0) };
  } catch (error) {
    const reason = error instanceof EvaluationFailure ? error.reason : 'The expression is nested too deeply.';
    const problem = failureOf(run, reason);
    return {
      ok: false,
      problem: error instanceof AuthoredFailure ? { ...problem, isAuthored: true } : problem,
    };
  }
}

const failureOf = ({ current }: TemplateRun, reason: string): TemplateFailure => ({
  placeholder: current?.text ?? '',
  reason,
  pointer: current?.pointer ?? '',
});

/** What is left of a result's limits. A result may hold the same part many times, so it is counted as it is written. */
export interface ResultLimits {
  values: number;
  characters: number;
  maxDepth: number;
}

/** Writes a value out as fresh JSON that shares nothing with what the expression read. */
export function toJson(value: CelValue, left: ResultLimits, depth: number): JsonValue {
  if (--left.values < 0 || depth > left.maxDepth)
    throw new EvaluationFailure('The result is too large.', true);
  if (typeof value === 'string') return resultText(value, left);
  if (typeof value === 'number' || typeof value === 'bigint') return toJsonNumber(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => toJson(item, left, depth + 1));
  if (value instanceof BeyondJson) return resultText(valueToText(value), left);
  return mapToJson(value, left, depth);
}

function mapToJson(map: CelMap, left: ResultLimits, depth: number): JsonValue {
  const result: Record<string, JsonValue> = {};
  for (const key of Object.keys(map)) {
    result[resultKey(key, left)] = toJson(map[key] ?? null, left, depth + 1);
  }
  return result;
}

/** Text of a result: U+0000 and lone surrogates are refused as they are at every entrance (docs/gateway.md). */
export function resultText(text: string, left: ResultLimits): string {
  left.characters -= text.length;
  if (left.characters < 0) throw new EvaluationFailure('The result is too large.', true);
  return isCleanText(text) ? text : fail('The result holds U+0000 or a lone surrogate.');
}

export function resultKey(key: string, left: ResultLimits): string {
  return isPollutingKey(key) ? fail(`The key "${key}" is not allowed.`) : resultText(key, left);
}

/** A number of a result: JSON numbers are finite IEEE doubles (docs/schemas.md). A 64-bit integer is never rounded. */
export function toJsonNumber(value: number | bigint): number {
  const number = Number(value);
  if (!Number.isFinite(number)) return fail('The result is not a finite number.');
  if (typeof value === 'bigint' && BigInt(number) !== value)
    return fail(`The whole number ${value} is not exact as a JSON number. Write it as text, with string().`);
  return number === 0 ? 0 : number;
}
