import canonicalize from 'canonicalize';
import { sha256Hex } from '#platform';
import { type FieldProblem, fieldProblem } from './problems.js';

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
export const canonicalHash = (value: JsonValue): string => sha256Hex(canonicalJson(value));

/** One step further in an RFC 6901 pointer. */
export const childPointer = (parent: string, key: string | number): string =>
  `${parent}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** An RFC 6901 pointer from a path of keys, the empty path being the whole document. */
export const toPointer = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (pointer, key) => childPointer(pointer, typeof key === 'symbol' ? String(key) : key),
    '',
  );

/** Nesting levels that any JSON from outside may have. */
export const MAX_JSON_DEPTH = 32;

const POLLUTING_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Names that reach an object's prototype: no key of JSON from outside, no attribute, schema or instance has one. */
export const isPollutingKey = (key: string): boolean => POLLUTING_KEYS.has(key);

/** U+0000 (PostgreSQL cannot store it) or half of a surrogate pair (not UTF-8). */
export const isCleanText = (text: string): boolean => !text.includes('\u0000') && text.isWellFormed();

/**
 * Finds the first thing in parsed JSON that no service accepts: too deep, more than `maxNodes` values, a polluting key,
 * a number that is not finite, U+0000 or a lone surrogate. It costs less than the parsing of the same JSON did: a
 * pointer is only made of what is wrong. The recursion ends at `maxDepth`.
 */
export function findUnsafeJson(
  root: unknown,
  maxDepth = MAX_JSON_DEPTH,
  maxNodes = Number.POSITIVE_INFINITY,
): FieldProblem | undefined {
  return problemIn(root, 0, { maxDepth, maxNodes, nodes: 0 });
}

interface Walk {
  readonly maxDepth: number;
  readonly maxNodes: number;
  /** Values seen so far. */
  nodes: number;
}

/** The pointer of a problem grows while the walk returns, by one key for each level. */
function problemIn(value: unknown, depth: number, walk: Walk): FieldProblem | undefined {
  walk.nodes += 1;
  if (walk.nodes > walk.maxNodes)
    return fieldProblem('', 'too_many_values', `JSON may have at most ${walk.maxNodes} values.`);
  if (depth > walk.maxDepth)
    return fieldProblem('', 'too_deep', `JSON may be at most ${walk.maxDepth} levels deep.`);
  if (typeof value === 'string') return isCleanText(value) ? undefined : UNCLEAN_TEXT;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : INFINITE_NUMBER;
  if (typeof value !== 'object' || value === null) return undefined;
  return Array.isArray(value)
    ? problemInList(value, depth + 1, walk)
    : problemInObject(value as Record<string, unknown>, depth + 1, walk);
}

const UNCLEAN_TEXT = fieldProblem('', 'invalid_text', 'The text contains U+0000 or a lone surrogate.');
const INFINITE_NUMBER = fieldProblem('', 'number_out_of_range', 'The number is too large.');

function problemInList(list: readonly unknown[], depth: number, walk: Walk): FieldProblem | undefined {
  for (let index = 0; index < list.length; index += 1) {
    const problem = problemIn(list[index], depth, walk);
    if (problem !== undefined) return below(index, problem);
  }
  return undefined;
}

function problemInObject(
  object: Record<string, unknown>,
  depth: number,
  walk: Walk,
): FieldProblem | undefined {
  for (const key of Object.keys(object)) {
    const problem = problemInKey(key) ?? problemIn(object[key], depth, walk);
    if (problem !== undefined) return below(key, problem);
  }
  return undefined;
}

function problemInKey(key: string): FieldProblem | undefined {
  if (POLLUTING_KEYS.has(key)) return fieldProblem('', 'forbidden_key', `The key "${key}" is not allowed.`);
  return isCleanText(key)
    ? undefined
    : fieldProblem('', 'invalid_text', 'A key contains U+0000 or a lone surrogate.');
}

const below = (key: string | number, problem: FieldProblem): FieldProblem => ({
  ...problem,
  pointer: `${childPointer('', key)}${problem.pointer}`,
});

/** The text as PostgreSQL and UTF-8 can hold it: U+FFFD takes the place of U+0000 and of lone surrogates. */
export const storableText = (text: string): string =>
  isCleanText(text) ? text : text.toWellFormed().replaceAll('\u0000', '\ufffd');

/** A text of at most `most` UTF-16 units and an ellipsis after what was cut, which is never half a character. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  const splitsPair = last >= 0xd800 && last < 0xdc00;
  return `${text.slice(0, splitsPair ? most - 1 : most)}…`;
}

/**
 * A value that `findUnsafeJson` accepts: the same one where it accepts the given one. Texts and keys are made storable,
 * polluting keys and what is nested deeper than `levels` are left out, and null takes the place of what is no finite
 * number and no JSON.
 */
export function storableJson(value: unknown, levels = MAX_JSON_DEPTH): JsonValue {
  if (typeof value === 'string') return storableText(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'object' || value === null) return null;
  if (!Array.isArray(value)) return storableObject(value, levels);
  return levels < 1 ? [] : value.map((element) => storableJson(element, levels - 1));
}

export function storableObject(value: object, levels = MAX_JSON_DEPTH): JsonObject {
  if (levels < 1) return {};
  const members = Object.entries(value).filter(
    ([key, member]) => !isPollutingKey(key) && member !== undefined,
  );
  return Object.fromEntries(
    members.map(([key, member]) => [storableText(key), storableJson(member, levels - 1)]),
  );
}

/**
 * `JSON.parse` for JSON of others. V8 of Node.js 24 to 26 may read a key that is written with an escape as another key:
 * once any object with a backslash in a key was parsed, `{"\u2028":1}` becomes `{"\\":1}`
 * (https://github.com/nodejs/node/issues/63785). Here such keys are read apart from their objects.
 *
 * @throws SyntaxError as `JSON.parse`
 */
export function parseJson(text: string): JsonValue {
  const escaped = escapedKeysIn(text);
  return escaped.length === 0 ? JSON.parse(text) : parseApart(text, escaped);
}

/** Where a string token begins and behind which position it ends, quotes included. */
type Token = readonly [from: number, to: number];

/** The keys that hold an escape, each character read once. Of a text that is no JSON some of them. */
function escapedKeysIn(text: string): Token[] {
  const found: Token[] = [];
  let backslash = text.indexOf('\\');
  let from = backslash < 0 ? -1 : text.indexOf('"');
  while (from >= 0) {
    const to = endOfString(text, from);
    if (backslash < from) backslash = text.indexOf('\\', from);
    if (backslash < 0 || to < 0) break;
    if (backslash < to && isKey(text, to)) found.push([from, to]);
    from = text.indexOf('"', to);
  }
  return found;
}

function endOfString(text: string, from: number): number {
  let quote = from;
  let backslashes: number;
  do {
    quote = text.indexOf('"', quote + 1);
    backslashes = 0;
    while (text[quote - 1 - backslashes] === '\\') backslashes += 1;
  } while (quote >= 0 && backslashes % 2 === 1);
  return quote < 0 ? -1 : quote + 1;
}

function isKey(text: string, end: number): boolean {
  let at = end;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at += 1;
  return text[at] === ':';
}

/** Gives each of these keys a name without escapes, and the objects their keys afterwards. */
function parseApart(text: string, keys: readonly Token[]): JsonValue {
  const mark = markFor(text);
  const parts: string[] = [];
  let at = 0;
  for (const [index, [from, to]] of keys.entries()) {
    parts.push(text.slice(at, from), `"${mark}${index}"`);
    at = to;
  }
  parts.push(text.slice(at));
  const root = parsedOrRefused(parts.join(''), text);
  return withKeys(
    root,
    mark,
    keys.map(([from, to]) => JSON.parse(text.slice(from, to)) as string),
  );
}

const MARK = '\uf8ff';

/** Begins no key of the text: one more of these characters than stand anywhere in a row. */
function markFor(text: string): string {
  const runs = text.match(/\uf8ff+/g) ?? [];
  return MARK.repeat(1 + runs.reduce((longest, { length }) => Math.max(longest, length), 0));
}

/** A text that is no JSON is refused with what is wrong with the text as it came. */
function parsedOrRefused(marked: string, text: string): JsonValue {
  try {
    return JSON.parse(marked);
  } catch {
    return JSON.parse(text);
  }
}

/** Without recursion: nobody has bounded the depth yet. */
function withKeys(root: JsonValue, mark: string, keys: readonly string[]): JsonValue {
  const nameOf = (key: string) =>
    key.startsWith(mark) ? (keys[Number(key.slice(mark.length))] ?? key) : key;
  const holder = { root };
  const open: Record<string, JsonValue>[] = [holder];
  for (let container = open.pop(); container !== undefined; container = open.pop())
    for (const [key, value] of Object.entries(container)) {
      if (typeof value !== 'object' || value === null) continue;
      const isMarked = !Array.isArray(value) && Object.keys(value).some((name) => name.startsWith(mark));
      const named = isMarked
        ? Object.fromEntries(Object.entries(value).map(([name, member]) => [nameOf(name), member]))
        : value;
      if (isMarked) container[key] = named;
      open.push(named as Record<string, JsonValue>);
    }
  return holder.root;
}
