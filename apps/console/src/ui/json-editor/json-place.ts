/** Where in a JSON text one types: within a key or a text. */
export interface JsonPlace {
  /** The keys that lead there; of a value its own key is the last one. Lists have none. */
  readonly path: readonly string[];
  readonly kind: 'key' | 'value';
  /** Where the text begins, behind its quote. */
  readonly from: number;
}

interface Frame {
  readonly isObject: boolean;
  key: string | undefined;
  isKeyNext: boolean;
}

/** The string that a position is in; undefined where it is in none. The text may be unfinished behind it. */
export function placeIn(text: string, at: number): JsonPlace | undefined {
  const frames: Frame[] = [];
  for (let position = 0; position < at; position += 1) {
    const character = text[position];
    const top = frames.at(-1);
    if (character === '"') {
      const end = endOfString(text, position + 1);
      if (end >= at) return placeOf(frames, position + 1);
      if (top?.isKeyNext) top.key = textOf(text.slice(position, end + 1));
      position = end;
    } else if (character === '{' || character === '[')
      frames.push({ isObject: character === '{', key: undefined, isKeyNext: character === '{' });
    else if (character === '}' || character === ']') frames.pop();
    else if (top !== undefined && character === ',') top.isKeyNext = top.isObject;
    else if (top !== undefined && character === ':') top.isKeyNext = false;
  }
  return undefined;
}

function placeOf(frames: readonly Frame[], from: number): JsonPlace {
  const top = frames.at(-1);
  const isKey = top?.isObject === true && top.isKeyNext;
  const path = (isKey ? frames.slice(0, -1) : frames).flatMap(({ key }) => key ?? []);
  return { path, kind: isKey ? 'key' : 'value', from };
}

/** The closing quote, or the end of the line: no text of JSON goes beyond it. */
function endOfString(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"' || text[at] === '\n') return at;
  }
  return text.length;
}

function textOf(json: string): string {
  try {
    return String(JSON.parse(json));
  } catch {
    return json.slice(1, -1);
  }
}
