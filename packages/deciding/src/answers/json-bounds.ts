import { MAX_JSON_DEPTH } from '@orrery/contracts';

/** Values of one JSON text: more take long to read, and named ones would be more than an entry holds. */
const MAX_VALUES = 50_000;

/**
 * What a JSON text has too much of, levels or values; an empty list or object counts twice. It is told before anything is
 * made of the text, of which no more is read than what is allowed. What is wrong with a text that is no JSON, the parser says.
 */
export function excessIn(json: string): string | undefined {
  let values = 1;
  let levels = 0;
  for (let at = 0; at < json.length; at += 1) {
    const sign = json[at];
    if (sign === '"') at = endOfText(json, at);
    else if (sign === '}' || sign === ']') levels -= 1;
    else if (sign === '{' || sign === '[') levels += 1;
    if (sign === ',' || sign === '{' || sign === '[') values += 1;
    if (levels > MAX_JSON_DEPTH + 1) return `it may be at most ${MAX_JSON_DEPTH} levels deep`;
    if (values > MAX_VALUES) return `it may have at most ${MAX_VALUES} values`;
  }
  return undefined;
}

/** Where the text that begins at a quote ends. */
function endOfText(json: string, from: number): number {
  let at = from + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at;
}
