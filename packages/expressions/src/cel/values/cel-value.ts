/** Base of the values that CEL knows and JSON does not, so that one `instanceof` tells them from JSON objects. */
export abstract class BeyondJson {
  abstract readonly kind: 'timestamp' | 'duration' | 'type';
}

/** What an expression computes with: JSON, whole numbers written in the expression (bigint), times and types. */
export type CelValue = null | boolean | number | bigint | string | CelValue[] | CelMap | BeyondJson;
export type CelMap = { [key: string]: CelValue };

export type CelKind =
  | 'null'
  | 'bool'
  | 'double'
  | 'int'
  | 'string'
  | 'list'
  | 'map'
  | 'timestamp'
  | 'duration'
  | 'type';

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

export function kindOf(value: CelValue): CelKind {
  if (value === null) return 'null';
  if (typeof value !== 'object') return PRIMITIVE_KINDS[typeof value] ?? 'null';
  if (Array.isArray(value)) return 'list';
  return value instanceof BeyondJson ? value.kind : 'map';
}

const WORDS: Readonly<Record<CelKind, string>> = {
  null: 'null',
  bool: 'a boolean',
  double: 'a number',
  int: 'a number',
  string: 'text',
  list: 'a list',
  map: 'an object',
  timestamp: 'a time',
  duration: 'a duration',
  type: 'a type',
};

/** The kind in the words of error messages. */
export const wordFor = (value: CelValue): string => WORDS[kindOf(value)];
