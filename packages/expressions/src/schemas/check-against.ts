import { type FieldProblem, fieldProblem, type JsonObject, type JsonValue } from '@orrery/contracts';
import type { CompiledContract } from './compile-contract.js';
import { CONTRACT_LIMITS } from './contract-limits.js';
import { startValidation, TooMuchWork } from './validation.js';

/**
 * What a value breaks of a contract, at most 20 problems with pointers into the value; empty when it fits. A check that
 * would take too long is a problem too (`too_complex`). Never throws.
 */
export function checkAgainst({ check }: CompiledContract, value: JsonValue): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const quick = startValidation(null, CONTRACT_LIMITS.work);
  try {
    if (check(value, quick)) return [];
    check(value, startValidation(problems, quick.work));
  } catch (error) {
    if (!(error instanceof TooMuchWork || error instanceof RangeError)) throw error;
    if (problems.length === 0) return [TOO_COMPLEX];
  }
  return problems.length > 0 ? problems : [fieldProblem('', 'not_allowed', 'does not fit the contract')];
}

const TOO_COMPLEX = fieldProblem(
  '',
  'too_complex',
  'checking this value against the contract takes too long',
);

/** The contract as JSON Schema 2020-12, for a model's output and for documentation. Not to be changed. */
export const toJsonSchema = ({ schema }: CompiledContract): JsonObject => schema;
