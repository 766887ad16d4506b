import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** One thing wrong with one place of a request; `pointer` is RFC 6901 into the body, or `#query/…`, `#path/…`. */
export interface FieldProblem {
  pointer: string;
  code: string;
  message: string;
}

export const fieldProblem = (pointer: string, code: string, message: string): FieldProblem => ({
  pointer,
  code,
  message,
});

/** How many problems one answer tells at most; the others are found when these are mended. */
export const MAX_PROBLEMS = 20;

/** What JSON can say. `undefined`, functions, dates and bigints are not JSON. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A JSON value as text, composed of checked parts: it is not checked or serialized again. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** RFC 8785 text of a JSON value: the one form that hashes are taken over. */
export function canonicalJson(value: JsonValue): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('only JSON values have a canonical form');
  return text;
}

/** SHA-256 over the UTF-8 bytes of the RFC 8785 text, 64 lowercase hex digits. */
export const canonicalHash = (value: JsonValue): string => hash('sha256', canonicalJson(value), 'hex');

/** One step further in an RFC 6901 pointer. */
export const childPointer = (parent: string, key: string | number): string =>
  `${parent}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** An RFC 6901 pointer from a path of keys, the empty path being the whole document. */
export const toPointer = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (pointer, key) => childPointer(pointer, typeof key === 'symbol' ? String(key) : key),
    '',
  );
