import type { JsonValue } from '@orrery/contracts';
import { EvaluationFailure } from '../cel/frame.js';
import { EVALUATION_LIMITS, type EvaluationLimits, TEMPLATE_LIMITS } from './template-limits.js';
import type { CompiledTemplate, TemplateRun } from './template-node.js';

/** Which placeholder failed, where it stands in the template, and why. */
export interface TemplateFailure {
  placeholder: string;
  reason: string;
  pointer: string;
}

export type EvaluationResult = { ok: true; value: JsonValue } | { ok: false; problem: TemplateFailure };

/**
 * Evaluates a template against the values of its names, which must be JSON that the guard has seen. The result is fresh
 * JSON that shares nothing with the scope. Never throws.
 */
export function evaluateTemplate(
  { root }: CompiledTemplate,
  scope: Readonly<Record<string, unknown>>,
  limits: EvaluationLimits = EVALUATION_LIMITS,
): EvaluationResult {
  const run: TemplateRun = {
    frame: { scope, locals: [], work: limits.work },
    room: { values: limits.values, characters: limits.characters, maxDepth: TEMPLATE_LIMITS.depth },
    current: undefined,
  };
  try {
    return { ok: true, value: root(run, 0) };
  } catch (error) {
    const reason = error instanceof EvaluationFailure ? error.reason : 'the expression is nested too deeply';
    return { ok: false, problem: failureOf(run, reason) };
  }
}

const failureOf = ({ current }: TemplateRun, reason: string): TemplateFailure => ({
  placeholder: current?.text ?? '',
  reason,
  pointer: current?.pointer ?? '',
});
