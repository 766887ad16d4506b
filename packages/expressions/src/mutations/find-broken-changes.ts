import {
  childPointer,
  type FieldProblem,
  fieldProblem,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MAX_PROBLEMS,
} from '@orrery/contracts';
import { isMutationForm, keyComplaint } from './mutation.js';

/**
 * Finds what is wrong whatever the placeholders give: a change key without a placeholder that does not name a schema and an
 * instance, and a change (or the map of them) that is neither an object nor left to a placeholder.
 */
export function findBrokenChanges(template: JsonObject): FieldProblem[] {
  const isForm = isMutationForm(template);
  const changes = isForm ? template['stateChanges'] : template;
  const base = isForm ? '/stateChanges' : '';
  if (changes === undefined || changes === null || isOpen(changes)) return [];
  if (!isJsonObject(changes))
    return [fieldProblem(base, 'invalid_mutation', 'The member "stateChanges" must be an object.')];
  return Object.entries(changes)
    .flatMap(([key, change]) => checkChange(key, change, childPointer(base, key)))
    .slice(0, MAX_PROBLEMS);
}

function checkChange(key: string, change: JsonValue, pointer: string): FieldProblem[] {
  const complaint = isOpen(key) ? undefined : keyComplaint(key);
  if (complaint !== undefined) return [fieldProblem(pointer, 'invalid_change_key', complaint)];
  return isJsonObject(change) || isOpen(change)
    ? []
    : [fieldProblem(pointer, 'invalid_mutation', 'A change must be an object.')];
}

const isOpen = (value: JsonValue): boolean => typeof value === 'string' && value.includes('{{');
