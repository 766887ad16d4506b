import { findUnsafeJson, type JsonObject, ServiceError } from '@orrery/contracts';
import type { CompiledDefinition } from './compiled-definition.js';

/** Refuses with `invalid_result` what breaks the version's `outputSchema`, or is no JSON that leaves the house. */
export function checkResult(definition: CompiledDefinition, result: JsonObject | null): void {
  const unsafe = findUnsafeJson(result);
  const problems = unsafe === undefined ? definition.problemsOfResult(result) : [unsafe];
  const [first] = problems;
  if (first === undefined) return;
  throw new ServiceError('invalid_result', `${first.pointer || 'result'}: ${first.message}`, {
    errors: problems,
    facts: { problems: problems.map((problem) => ({ ...problem })) },
  });
}
