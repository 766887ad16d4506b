import { findUnsafeJson, type JsonValue, ServiceError } from '@orrery/contracts';
import { evaluateTemplate } from '@orrery/expressions';
import type { ExecutionRun } from './execute-event.js';
import { proposalOf } from './parse-proposal.js';
import type { Proposal } from './proposal.js';
import type { ReadSet } from './read-entities.js';
import { templateScope } from './template-scope.js';

/** The proposal of a direct template. Throws `template_failed` with the placeholder and the reason as facts. */
export function decideDirect(run: ExecutionRun, read: ReadSet): Proposal {
  return proposalOf(evaluate(run, read), 'template');
}

function evaluate(run: ExecutionRun, read: ReadSet): JsonValue {
  const { template } = run.definition;
  if (template === null) throw new ServiceError('mutation_missing', 'this version has no template');
  const evaluated = evaluateTemplate(template, templateScope(run, read));
  if (!evaluated.ok) {
    const { placeholder, pointer, reason } = evaluated.problem;
    throw templateFailed(`${placeholder || pointer}: ${reason}`, { placeholder, pointer, reason });
  }
  const unsafe = findUnsafeJson(evaluated.value);
  if (unsafe === undefined) return evaluated.value;
  throw templateFailed(unsafe.message, { placeholder: '', pointer: unsafe.pointer, reason: unsafe.message });
}

const templateFailed = (detail: string, facts: { placeholder: string; pointer: string; reason: string }) =>
  new ServiceError('template_failed', detail, { facts });
