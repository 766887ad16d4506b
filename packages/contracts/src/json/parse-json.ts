import type { JsonValue } from './json.js';

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
