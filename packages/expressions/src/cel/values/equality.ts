import { CelType } from './cel-type.js';
import { BeyondJson, type CelMap, type CelValue, isMap, isNumber, keysOf } from './cel-value.js';
import type { Work } from './evaluation.js';
import { spend } from './evaluation.js';
import { Duration, Timestamp } from './moments.js';
import { spendOnText } from './texts.js';

/** CEL equality: numbers by value whatever their form, other kinds never equal each other; deep, charged to the work. */
export function equals(frame: Work, a: CelValue, b: CelValue): boolean {
  if (typeof a === 'string' && typeof b === 'string') {
    if (a.length === b.length) spendOnText(frame, a.length);
    return a === b;
  }
  if (a === b) return true;
  // biome-ignore lint/suspicious/noDoubleEquals: compares a bigint with a double exactly
  if (isNumber(a) && isNumber(b)) return a == b;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  spend(frame, 1);
  if (Array.isArray(a)) return Array.isArray(b) && equalLists(frame, a, b);
  if (isMap(a)) return isMap(b) && equalMaps(frame, a, b);
  return a instanceof BeyondJson && b instanceof BeyondJson && equalBeyondJson(a, b);
}

function equalLists(frame: Work, a: CelValue[], b: CelValue[]): boolean {
  spend(frame, a.length);
  return a.length === b.length && a.every((item, index) => equals(frame, item, b[index] ?? null));
}

function equalMaps(frame: Work, a: CelMap, b: CelMap): boolean {
  const keys = keysOf(frame, a);
  if (keys.length !== keysOf(frame, b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && equals(frame, a[key] ?? null, b[key] ?? null));
}

function equalBeyondJson(a: BeyondJson, b: BeyondJson): boolean {
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos;
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  return a instanceof CelType && b instanceof CelType && a.name === b.name;
}
