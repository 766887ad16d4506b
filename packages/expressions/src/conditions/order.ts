import {
  isCleanText,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  toNfc,
} from '@orrery/contracts';
import { byCodePoint, slice } from '../cel/values/texts.js';

/** One key of an order. */
export interface OrderKey {
  /** Keys from the state on; null: the instanceId. */
  readonly path: readonly string[] | null;
  readonly isDescending: boolean;
}

export const MAX_ORDER_KEYS = 4;
/** Characters by which a text is ordered. */
export const ORDERED_CHARACTERS = 256;

/** What an instance is ordered by, one for each key of the order; null: missing. */
export type OrderValue = string | number | boolean | null;

const PART = /\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))(?:\s+(asc|desc))?\s*(,|$)/iy;

/**
 * Reads `wins desc, speed`: attributes, largest or smallest (the default) first; `stats.speed` is a value inside an object,
 * a name with other characters stands in quotes, `id` is the instanceId. A problem is a sentence.
 */
export function parseOrder(
  text: string,
  most: number = MAX_ORDER_KEYS,
): { ok: true; order: OrderKey[] } | { ok: false; problem: string } {
  const order: OrderKey[] = [];
  PART.lastIndex = 0;
  for (let next = ','; next === ','; ) {
    const [, inQuotes, plain, direction, end] = PART.exec(text) ?? [];
    const path = inQuotes === undefined ? plain?.split('.') : pathInQuotes(inQuotes);
    if (path === undefined || end === undefined || path.includes('')) return { ok: false, problem: SYNTAX };
    const isId = inQuotes === undefined && plain === 'id';
    order.push({ path: isId ? null : path, isDescending: direction?.toLowerCase() === 'desc' });
    next = end;
  }
  if (order.length <= most) return { ok: true, order };
  return { ok: false, problem: `At most ${most} attributes can be named.` };
}

const SYNTAX =
  'An order is a list of attributes, each with "asc" or "desc" if need be, as in: wins desc, speed. ' +
  'A name with spaces or commas stands in double quotes.';

/** Undefined for a name that no attribute can have. */
function pathInQuotes(text: string): string[] | undefined {
  try {
    const name = parseJson(`"${text}"`) as string;
    return isCleanText(name) ? [toNfc(name)] : undefined;
  } catch {
    return undefined;
  }
}

/** The values by which an instance is ordered. */
export const orderValues = (order: readonly OrderKey[], id: string, state: JsonObject): OrderValue[] =>
  order.map(({ path }) => (path === null ? id : orderValue(valueAt(state, path))));

/** The value at a path of objects. */
export function valueAt(state: JsonObject, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = state;
  for (const key of path)
    value = value !== undefined && isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

/** Null, lists and objects have no place in an order, as what is missing. */
export function orderValue(value: JsonValue | undefined): OrderValue {
  if (typeof value === 'string') return slice(value, 0, ORDERED_CHARACTERS);
  return typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

/** Numbers, then texts by code point, then false and true; for `desc` the other way round. What is missing is last in both. */
export function compareInOrder(
  order: readonly OrderKey[],
  a: readonly OrderValue[],
  b: readonly OrderValue[],
): number {
  for (const [at, { isDescending }] of order.entries()) {
    const found = compareOrderValues(a[at] ?? null, b[at] ?? null, isDescending);
    if (found !== 0) return found;
  }
  return 0;
}

export function compareOrderValues(a: OrderValue, b: OrderValue, isDescending: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const found = compareSameKind(a, b) ?? rankOf(a) - rankOf(b);
  return isDescending ? -found : found;
}

const compareSameKind = (a: string | number | boolean, b: string | number | boolean): number | undefined => {
  if (typeof a === 'string' && typeof b === 'string') return byCodePoint(a, b);
  return typeof a === typeof b ? Number(a > b) - Number(a < b) : undefined;
};

const RANKS: Readonly<Record<string, number>> = { number: 0, string: 1, boolean: 2 };
const rankOf = (value: string | number | boolean): number => RANKS[typeof value] ?? 0;
