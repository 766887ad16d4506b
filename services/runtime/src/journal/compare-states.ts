import { canonicalJson, type JsonObject, type JsonValue } from '@orrery/contracts';

/** What turns one state into another: attributes to set and attributes to leave out. */
export interface StateDifference {
  set: JsonObject;
  unset: string[];
}

/** Equal as JSON: order of keys does not matter, 0 and -0 are one number. */
export function sameJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  return canonicalJson(a) === canonicalJson(b);
}

/** `named` attributes are set even where they stay as they were: the change spoke of them. */
export function differenceOf(
  before: JsonObject,
  after: JsonObject,
  named: ReadonlySet<string> = new Set(),
): StateDifference {
  const difference: StateDifference = { set: {}, unset: [] };
  for (const [attribute, value] of Object.entries(after)) {
    const had = Object.hasOwn(before, attribute);
    if (!had || named.has(attribute) || !sameJson(before[attribute], value))
      difference.set[attribute] = value;
  }
  difference.unset = Object.keys(before).filter((attribute) => !Object.hasOwn(after, attribute));
  return difference;
}
