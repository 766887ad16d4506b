import { type ChangeMode, isJsonObject, type JsonObject, type JsonValue } from '@orrery/contracts';

/** The state after a change by the mode of its schema, before operators and defaults (decisions §4 "Changing"). */
export function mergeByMode(
  mode: ChangeMode,
  before: JsonObject,
  values: JsonObject,
  isRequired: (attribute: string) => boolean,
): JsonObject {
  if (mode === 'full') return { ...values };
  const after = { ...before };
  for (const [attribute, value] of Object.entries(values)) {
    if (value === null && !isRequired(attribute)) delete after[attribute];
    else after[attribute] = mode === 'append' ? appended(before[attribute], value) : value;
  }
  return after;
}

/** Lists grow, objects are merged, a single value is pushed onto a list; anything else is set. */
function appended(before: JsonValue | undefined, value: JsonValue): JsonValue {
  if (Array.isArray(before)) return Array.isArray(value) ? [...before, ...value] : [...before, value];
  if (isJsonObject(before) && isJsonObject(value)) return { ...before, ...value };
  return value;
}
