import type { JsonValue } from '@orrery/contracts';

/** An expression between `{{` and `}}`. */
export interface FoundPlaceholder {
  /** With its braces. */
  readonly text: string;
  readonly source: string;
  /** Where the expression begins, in the text. */
  readonly start: number;
}

/** Part of a text: written as it stands, or a placeholder. */
type Segment = string | FoundPlaceholder;

type Segments = { ok: true; segments: Segment[] } | { ok: false; start: number };

/** Cuts a text at its placeholders. Not ok: the placeholder that begins at `start` is never closed. */
export function findPlaceholders(text: string): Segments {
  const segments: Segment[] = [];
  let from = 0;
  for (let start = text.indexOf('{{'); start >= 0; start = text.indexOf('{{', from)) {
    const close = findClose(text, start + 2);
    if (close < 0) return { ok: false, start };
    if (start > from) segments.push(text.slice(from, start));
    segments.push({
      text: text.slice(start, close + 2),
      source: text.slice(start + 2, close),
      start: start + 2,
    });
    from = close + 2;
  }
  if (from < text.length) segments.push(text.slice(from));
  return { ok: true, segments };
}

/** Index of the `}}` that ends an expression: outside its strings, comments and braces. -1 = none. */
function findClose(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (char === '"' || char === "'") at = endOfString(text, at);
    else if (char === '/' && text[at + 1] === '/') at = endOfComment(text, at);
    else if (char === '{') depth++;
    else if (char === '}' && depth > 0) depth--;
    else if (char === '}' && text[at + 1] === '}') return at;
  }
  return -1;
}

/** Index of the last quote of a CEL string (single or triple quoted); beyond the text when it is not closed. */
function endOfString(text: string, start: number): number {
  const quote = text.charAt(start);
  const closing = text.startsWith(quote.repeat(3), start) ? quote.repeat(3) : quote;
  for (let at = start + closing.length; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text.startsWith(closing, at)) return at + closing.length - 1;
  }
  return text.length;
}

/** A comment runs to the end of its line, or to the `}}` that closes the placeholder. */
function endOfComment(text: string, start: number): number {
  const end = /\n|\}\}/g;
  end.lastIndex = start;
  return (end.exec(text)?.index ?? text.length + 1) - 1;
}

/** One placeholder and nothing beside it: it keeps its JSON type. */
export function isPlaceholder(value: JsonValue): boolean {
  if (typeof value !== 'string') return false;
  const found = findPlaceholders(value);
  return found.ok && found.segments.length === 1 && typeof found.segments[0] === 'object';
}
