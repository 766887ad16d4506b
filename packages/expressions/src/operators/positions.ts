import { isJsonObject, type JsonValue } from '@orrery/contracts';

/**
 * Where in a mutation a value stands:
 *
 *   form      { stateChanges, result }
 *   changes   { "horse:H1": change, … }
 *   change    { attribute: value, … } or { "$delete": true }
 *   attribute the attribute's new value, or an operator object
 *   nested    inside an attribute's value
 *   free      anywhere else (the result, templates that make no mutation)
 */
export type Position = 'form' | 'changes' | 'change' | 'attribute' | 'nested' | 'free';

const FORM_KEYS: ReadonlySet<string> = new Set(['stateChanges', 'result']);

/** With no keys but `stateChanges` and `result` a mutation has the full form; otherwise it is the bare map of changes. */
export const isMutationForm = (value: JsonValue): boolean =>
  isJsonObject(value) && Object.keys(value).every((key) => FORM_KEYS.has(key));

export const rootPosition = (mutation: JsonValue): Position =>
  isMutationForm(mutation) ? 'form' : 'changes';

/** Position of the value under `key` of an object at `position`. */
export function childPosition(position: Position, key: string): Position {
  if (position === 'form') return key === 'stateChanges' ? 'changes' : 'free';
  if (position === 'changes') return 'change';
  if (position === 'change') return 'attribute';
  if (position === 'attribute') return key === '$set' ? 'free' : 'nested';
  return position;
}
