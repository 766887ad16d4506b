/** Texts, with the colon behind those that are keys, and the ends of objects and lists. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}[\]]/g;

/**
 * The first key that an object of a JSON text has twice: `JSON.parse` keeps the last value without a word, and nobody
 * knows which one was meant. The text must be valid JSON.
 */
export function findRepeatedKey(json: string): string | undefined {
  const objects: (Set<string> | undefined)[] = [];
  for (const [token, colon] of json.matchAll(TOKENS)) {
    if (token === '{') objects.push(new Set());
    else if (token === '[') objects.push(undefined);
    else if (token === '}' || token === ']') objects.pop();
    else if (colon !== undefined) {
      const keys = objects.at(-1);
      const key = JSON.parse(token.slice(0, -colon.length)) as string;
      if (keys?.has(key)) return key;
      keys?.add(key);
    }
  }
  return undefined;
}
