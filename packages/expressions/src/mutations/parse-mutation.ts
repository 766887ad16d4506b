import {
  childPointer,
  type FieldProblem,
  fieldProblem,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@orrery/contracts';
import { isMutationForm } from '../operators/positions.js';
import { splitChangeKey } from './change-key.js';

/** What an execution proposes: changes by `schema:instanceId`, and its public result. */
export interface Mutation {
  stateChanges: Record<string, JsonObject>;
  result: JsonObject | null;
}

export type MutationResult = { ok: true; mutation: Mutation } | { ok: false; problems: FieldProblem[] };

const MAX_PROBLEMS = 20;

/**
 * Reads `{ stateChanges, result }` (either may be absent or null) or the bare map of changes (decisions §4, "Changing").
 * Problems have the codes `invalid_mutation` and `invalid_change_key`.
 */
export function parseMutation(value: JsonValue): MutationResult {
  if (!isJsonObject(value)) return refuse([fieldProblem('', 'invalid_mutation', 'a mutation is an object')]);
  const isForm = isMutationForm(value);
  const changes = isForm ? (value['stateChanges'] ?? {}) : value;
  const result = isForm ? (value['result'] ?? null) : null;
  const base = isForm ? '/stateChanges' : '';
  if (!isJsonObject(changes))
    return refuse([fieldProblem(base, 'invalid_mutation', 'stateChanges is an object')]);
  const problems = Object.entries(changes).flatMap(([key, change]) => checkChange(key, change, base));
  if (result !== null && !isJsonObject(result))
    problems.push(fieldProblem('/result', 'invalid_mutation', 'the result is an object'));
  if (problems.length > 0) return refuse(problems);
  return { ok: true, mutation: { stateChanges: changes, result } as Mutation };
}

function checkChange(key: string, change: JsonValue, base: string): FieldProblem[] {
  const pointer = childPointer(base, key);
  if (splitChangeKey(key) === undefined)
    return [fieldProblem(pointer, 'invalid_change_key', 'a change is named "<schema>:<instanceId>"')];
  return isJsonObject(change) ? [] : [fieldProblem(pointer, 'invalid_mutation', 'a change is an object')];
}

const refuse = (problems: FieldProblem[]): MutationResult => ({
  ok: false,
  problems: problems.slice(0, MAX_PROBLEMS),
});
