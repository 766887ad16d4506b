/** Each text of a JSON document, with the colon behind it where it is a key. */
const TEXTS = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/gs;

/**
 * `JSON.parse` without a defect of V8 in Node.js 24 to 26 and in browsers: it may read a key that is written with an escape
 * as another key (https://github.com/nodejs/node/issues/63785). Such keys are parsed apart from their objects.
 */
export function parseJson(text: string): unknown {
  if (!text.includes('\\')) return JSON.parse(text);
  const mark = markFor(text);
  const keys: string[] = [];
  const marked = text.replace(TEXTS, (token, colon?: string) => {
    if (colon === undefined || !token.includes('\\')) return token;
    keys.push(JSON.parse(token.slice(0, -colon.length)));
    return `"${mark}${keys.length - 1}":`;
  });
  if (keys.length === 0) return JSON.parse(text);
  const nameOf = (name: string) =>
    name.startsWith(mark) ? (keys[Number(name.slice(mark.length))] ?? name) : name;
  return JSON.parse(marked, (_name, value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [nameOf(name), member]));
  });
}

/** Begins no key of the text: one more of these characters than stand anywhere in a row. */
function markFor(text: string): string {
  const runs = text.match(/\uf8ff+/g) ?? [];
  return '\uf8ff'.repeat(1 + runs.reduce((longest, { length }) => Math.max(longest, length), 0));
}
