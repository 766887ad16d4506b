import { canonicalJson, type JsonObject, type JsonValue } from '@orrery/contracts';
import type { AttributePlan, SchemaPlan } from './plan.js';

export function withDefaults({ attributes }: SchemaPlan, state: JsonObject): JsonObject {
  const missing = attributes.filter(({ name, defaultValue }) => defaultValue !== null && !(name in state));
  return { ...state, ...Object.fromEntries(missing.map(({ name, defaultValue }) => [name, defaultValue])) };
}

export const isValid = ({ attributes }: SchemaPlan, state: JsonObject): boolean =>
  attributes.every((attribute) => fits(attribute, state[attribute.name] ?? null));

function fits({ type, constraints }: AttributePlan, value: JsonValue): boolean {
  if (value === null) return constraints.required !== true;
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = constraints;
  switch (type) {
    case 'integer':
      return Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max;
    case 'float':
      return typeof value === 'number' && value >= min && value <= max;
    case 'string':
      return (
        typeof value === 'string' &&
        (constraints.enum?.includes(value) ?? true) &&
        new RegExp(constraints.pattern ?? '').test(value)
      );
    case 'boolean':
      return typeof value === 'boolean';
    case 'json':
      return true;
  }
}

/** What an entry shows of an update: what was named or differs, and null for what is gone. */
export function shownDifference(
  before: JsonObject,
  after: JsonObject,
  named: ReadonlySet<string> = new Set(),
): JsonObject {
  const shown: JsonObject = {};
  for (const [name, value] of Object.entries(after)) {
    const before_ = before[name];
    if (before_ === undefined || named.has(name) || canonicalJson(before_) !== canonicalJson(value))
      shown[name] = value;
  }
  for (const name of Object.keys(before)) if (!(name in after)) shown[name] = null;
  return shown;
}
