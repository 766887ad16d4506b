import { mayNeedNfc, toNfc } from '@orrery/contracts';
import type { Work } from './evaluation.js';
import { fail, spend } from './evaluation.js';

/** The kinds of values: the name of the type in CEL, and the word of error messages. */
const KINDS = {
  null: { type: 'null_type', word: 'null' },
  bool: { type: 'bool', word: 'a boolean' },
  double: { type: 'double', word: 'a number' },
  int: { type: 'int', word: 'a number' },
  string: { type: 'string', word: 'text' },
  list: { type: 'list', word: 'a list' },
  map: { type: 'map', word: 'an object' },
  timestamp: { type: 'google.protobuf.Timestamp', word: 'a time' },
  duration: { type: 'google.protobuf.Duration', word: 'a duration' },
  type: { type: 'type', word: 'a type' },
} as const;

type CelKind = keyof typeof KINDS;

/** Base of the values that CEL knows and JSON does not, so that one `instanceof` tells them from JSON objects. */
export abstract class BeyondJson {
  abstract readonly kind: 'timestamp' | 'duration' | 'type';
  /** What `string(x)` gives; undefined where there is no text for it. */
  abstract toText(): string | undefined;
}

/** What `type(x)` answers; compared by name: `type(input.x) == string`. */
export class CelType extends BeyondJson {
  readonly kind = 'type';
  readonly name: string;

  constructor(name: string) {
    super();
    this.name = name;
  }

  toText(): undefined {
    return undefined;
  }
}

/** Type names that an expression may use as values. */
export const TYPE_NAMES: ReadonlySet<string> = new Set(
  Object.values(KINDS)
    .map(({ type }) => type)
    .filter((name) => !name.includes('.')),
);

export const typeOf = (value: CelValue): CelType => new CelType(KINDS[kindOf(value)].type);

/** What an expression computes with: JSON, whole numbers written in the expression (bigint), times and types. */
export type CelValue = null | boolean | number | bigint | string | CelValue[] | CelMap | BeyondJson;
export type CelMap = { [key: string]: CelValue };

export const isMap = (value: CelValue | undefined): value is CelMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof BeyondJson);

export const isNumber = (value: CelValue | undefined): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';

const PRIMITIVE_KINDS: Readonly<Record<string, CelKind>> = {
  boolean: 'bool',
  number: 'double',
  bigint: 'int',
  string: 'string',
};

function kindOf(value: CelValue): CelKind {
  if (value === null) return 'null';
  if (typeof value !== 'object') return PRIMITIVE_KINDS[typeof value] ?? 'null';
  if (Array.isArray(value)) return 'list';
  return value instanceof BeyondJson ? value.kind : 'map';
}

/**
 * The key under which an object holds what `key` names; undefined where it holds nothing of that name. Keys are compared
 * as they are, and then in NFC, in which instanceIds and attributes are stored. Own properties only, so that no prototype
 * can be reached. Pays for the hash of the key and for its normalization.
 */
export function ownKey(frame: Work, map: CelMap, key: string): string | undefined {
  spendOnKey(frame, key);
  if (Object.hasOwn(map, key)) return key;
  if (!mayNeedNfc(key)) return undefined;
  spend(frame, key.length);
  const normal = toNfc(key);
  return normal !== key && Object.hasOwn(map, normal) ? normal : undefined;
}

/** The kind in the words of error messages. */
export const wordFor = (value: CelValue): string => KINDS[kindOf(value)].word;

const MIN_INT = -(2n ** 63n);
const MAX_INT = 2n ** 63n - 1n;

/** CEL ints are 64-bit: an overflow is a failure, never a wrap. */
export function checkedInt(value: bigint): bigint {
  return value < MIN_INT || value > MAX_INT ? fail('The whole number does not fit 64 bits.') : value;
}

export const isInt64 = (value: bigint): boolean => value >= MIN_INT && value <= MAX_INT;

/** Decimal text of a number, as it stands in texts, in keys and as an instanceId: `7`, `0.5`, `1e+21`. */
export const numberToText = (value: number | bigint): string => String(Object.is(value, -0) ? 0 : value);

/** `string(x)`: text, numbers, booleans, times and durations; anything else is a failure. */
export function valueToText(value: CelValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint') return numberToText(value);
  if (typeof value === 'boolean') return String(value);
  const text = value instanceof BeyondJson ? value.toText() : undefined;
  return text ?? fail(`Cannot turn ${wordFor(value)} into text.`);
}

/** A key of an object: keys are text, a number stands for its digits (as in a `filter`). */
export function keyToText(value: CelValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint') return numberToText(value);
  return fail(`A key must be text or a number, not ${wordFor(value)}.`);
}

/** Pays for the hash of a key; those of usual length are part of what reads them. */
export const spendOnKey = (frame: Work, key: string): void => spend(frame, key.length >> 3);

/** Listing the keys of a large object costs more than reading one. */
const KEY_COST = 4;

export function keysOf(frame: Work, map: CelMap): string[] {
  const keys = Object.keys(map);
  spend(frame, keys.length * KEY_COST);
  return keys;
}
