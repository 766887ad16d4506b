import { MAX_JSON_DEPTH, parseJson } from '@orrery/contracts';

/** Values of one JSON text: more take long to read, and named ones would be more than an entry holds. */
const MAX_VALUES = 50_000;

/**
 * What a JSON text has too much of, levels or values; an empty list or object counts twice. It is told before anything is
 * made of the text, of which no more is read than what is allowed. What is wrong with a text that is no JSON, the parser says.
 * `withTexts`: texts in it that hold JSON are read later, so what they hold counts too.
 */
export function excessIn(json: string, withTexts = false, count = { values: 0 }): string | undefined {
  count.values += 1;
  let levels = 0;
  for (let at = 0; at < json.length; at += 1) {
    const sign = json[at];
    if (sign === '"') {
      const end = endOfText(json, at);
      const excess = withTexts ? excessIn(textAt(json, at, end), false, count) : undefined;
      if (excess !== undefined) return excess;
      at = end;
    } else if (sign === '}' || sign === ']') levels -= 1;
    else if (sign === '{' || sign === '[') levels += 1;
    if (sign === ',' || sign === '{' || sign === '[') count.values += 1;
    if (levels > MAX_JSON_DEPTH + 1) return `it may be at most ${MAX_JSON_DEPTH} levels deep`;
    if (count.values > MAX_VALUES) return `it may have at most ${MAX_VALUES} values`;
  }
  return undefined;
}

/** Where the text that begins at a quote ends. */
function endOfText(json: string, from: number): number {
  let at = from + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at;
}

/** The text between two quotes where it may hold a list or an object; any other is of no interest. */
function textAt(json: string, from: number, end: number): string {
  if (json[from + 1] !== '[' && json[from + 1] !== '{') return '';
  try {
    return parseJson(json.slice(from, end + 1)) as string;
  } catch {
    return '';
  }
}
