import { type Evaluator, mayNeedNfc, toNfc } from '@orrery/contracts';
import type { Draws } from '../../draws/draws.js';
import { type Telling, WHOLE } from './telling.js';

/** What is left of an evaluation's work. It counts down: when it is used up, the evaluation ends with a failure. */
export interface Work {
  work: number;
  /** Random numbers; absent where nothing may be drawn. */
  readonly draws?: Draws | undefined;
  /** The revision of the rules; absent: the present one. */
  readonly evaluator?: Evaluator | undefined;
}

/**
 * Why an evaluation failed. No `Error`: a stack costs time on the hot path and has no reader. A fatal one is not
 * absorbed by `||`, `&&`, `all` and `exists`. A reason that takes work, or quotes anything, is a function: most failures in
 * loops are absorbed, and nobody reads them.
 */
export class EvaluationFailure {
  readonly fatal: boolean;
  readonly #reason: Reason;

  constructor(reason: Reason, fatal = false) {
    this.#reason = reason;
    this.fatal = fatal;
  }

  get reason(): string {
    return this.reasonTold(WHOLE);
  }

  reasonTold(telling: Telling): string {
    return typeof this.#reason === 'string' ? this.#reason : this.#reason(telling);
  }
}

/** What an author's `fail()` says. No operand that comes after it makes it irrelevant. */
export class AuthoredFailure extends EvaluationFailure {
  constructor(reason: string) {
    super(reason, true);
  }
}

type Reason = string | ((telling: Telling) => string);

export function fail(reason: Reason): never {
  throw new EvaluationFailure(reason);
}

/** Pays for work whose amount depends on data; one unit is about one node of an expression. */
export function spend(evaluation: Work, units: number): void {
  evaluation.work -= units;
  if (evaluation.work < 0) throw new EvaluationFailure('The template does more work than is allowed.', true);
}

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

/** Listing the keys of a large object costs more than reading one, and sorting them as much again. */
const KEY_COST = 4;
const SORT_COST = 4;

export function countKeys(frame: Work, map: CelMap): number {
  const { length } = Object.keys(map);
  spend(frame, length * KEY_COST);
  return length;
}

/** The keys in the order in which loops go through them, and texts show them. */
export function keysOf(frame: Work, map: CelMap): readonly string[] {
  spend(frame, countKeys(frame, map) * (frame.evaluator === 1 ? 0 : SORT_COST));
  return orderedKeys(map, frame.evaluator);
}

/**
 * Revision 1 of the rules takes members in the order in which they were made, which no hash covers and jsonb does not keep;
 * later ones in that of RFC 8785, by UTF-16 code units (docs/adr/0049).
 */
export function orderedKeys(map: object, evaluator: Evaluator | undefined): readonly string[] {
  if (evaluator === 1) return Object.keys(map);
  return readOrders.get(map) ?? Object.keys(map).sort();
}

const readOrders = new WeakMap<object, readonly string[]>();

/** Instances are read in an order that the journal tells, by `orderBy` or of their creation, and templates see that one. */
export function keepReadOrder(instances: object, ids: readonly string[]): void {
  if (ids.length > 1) readOrders.set(instances, ids);
}

export const NANOS_PER_SECOND = 1_000_000_000n;
const MIN_TIMESTAMP = -62_135_596_800n * NANOS_PER_SECOND;
const MAX_TIMESTAMP = 253_402_300_800n * NANOS_PER_SECOND - 1n;
const MAX_DURATION = 315_576_000_000n * NANOS_PER_SECOND;

/** A point in time, in nanoseconds since 1970, between the years 1 and 9999. */
export class Timestamp extends BeyondJson {
  readonly kind = 'timestamp';
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    super();
    if (nanos < MIN_TIMESTAMP || nanos > MAX_TIMESTAMP) fail('A time must lie between the years 1 and 9999.');
    this.nanos = nanos;
  }

  /** RFC 3339 in UTC, with as many decimals as are needed: `2026-11-21T09:30:00Z`. */
  toText(): string {
    const fraction = ((this.nanos % NANOS_PER_SECOND) + NANOS_PER_SECOND) % NANOS_PER_SECOND;
    const seconds = (this.nanos - fraction) / NANOS_PER_SECOND;
    return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}${decimals(fraction)}Z`;
  }
}

/** A span of time in nanoseconds, at most 10,000 years either way. */
export class Duration extends BeyondJson {
  readonly kind = 'duration';
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    super();
    if (nanos > MAX_DURATION || nanos < -MAX_DURATION) fail('A duration may be at most 10,000 years.');
    this.nanos = nanos;
  }

  /** Seconds with a unit, as protobuf's JSON has it: `3600s`, `-0.5s`. */
  toText(): string {
    const size = this.nanos < 0n ? -this.nanos : this.nanos;
    const sign = this.nanos < 0n ? '-' : '';
    return `${sign}${size / NANOS_PER_SECOND}${decimals(size % NANOS_PER_SECOND)}s`;
  }
}

function decimals(nanos: bigint): string {
  if (nanos === 0n) return '';
  return `.${nanos.toString().padStart(9, '0').replace(/0+$/, '')}`;
}

const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** RFC 3339 with an offset and up to nine decimals. */
export function parseTimestamp(text: string): Timestamp {
  const parts = RFC_3339.exec(text);
  if (parts === null) return fail(({ computed }) => `${computed(text, 40)} is not an RFC 3339 time.`);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(1, 7).map(Number);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60;
  if (!isReal || second > 59) return fail(({ computed }) => `${computed(text)} is not a real time.`);
  const offset = (Number(parts[9] ?? 0) * 60 + Number(parts[10] ?? 0)) * (parts[8] === '-' ? -60 : 60);
  const seconds = BigInt(date.getTime() / 1000 - offset);
  return new Timestamp(seconds * NANOS_PER_SECOND + BigInt((parts[7] ?? '').padEnd(9, '0')));
}

const UNITS: Readonly<Record<string, bigint>> = {
  h: 3600n * NANOS_PER_SECOND,
  m: 60n * NANOS_PER_SECOND,
  s: NANOS_PER_SECOND,
  ms: 1_000_000n,
  us: 1_000n,
  µs: 1_000n,
  ns: 1n,
};
const DURATION = /^[+-]?(?:\d{1,20}(?:\.\d{0,20})?(?:h|ms|m|us|µs|ns|s))+$/;
const PART = /(\d+)(?:\.(\d*))?(h|ms|m|us|µs|ns|s)/g;

/** `1h30m`, `-1.5s`, `250ms`: decimal numbers with units, as CEL (and Go) write durations. */
export function parseDuration(text: string): Duration {
  if (text.length > 64 || !DURATION.test(text))
    return fail(({ computed }) => `${computed(text, 40)} is not a duration.`);
  let nanos = 0n;
  for (const [, whole = '0', fraction = '', unit = 's'] of text.matchAll(PART)) {
    const scale = UNITS[unit] ?? 1n;
    nanos += BigInt(whole) * scale + (BigInt(fraction || '0') * scale) / 10n ** BigInt(fraction.length);
  }
  return new Duration(text.startsWith('-') ? -nanos : nanos);
}
