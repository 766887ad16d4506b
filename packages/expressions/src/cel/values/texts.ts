import type { Work } from './evaluation.js';
import { fail, spend } from './evaluation.js';

/** Characters that a text made by a template may have. */
const MAX_TEXT_LENGTH = 262_144;

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000;

/** Characters as CEL counts them: code points. */
export function codePointLength(text: string): number {
  let length = text.length;
  for (let at = 0; at < text.length; at++) if (isLowSurrogate(text.charCodeAt(at))) length -= 1;
  return length;
}

/** UTF-16 offset of the code point at `index`. */
function offsetOf(text: string, index: number): number {
  let offset = 0;
  for (let left = index; left > 0 && offset < text.length; left--)
    offset += isLowSurrogate(text.charCodeAt(offset + 1)) ? 2 : 1;
  return offset;
}

/** Part of a text by code points. */
export const slice = (text: string, start: number, end: number): string =>
  text.slice(offsetOf(text, start), offsetOf(text, end));

/** Turns a UTF-16 index (-1 for none) into one of code points. */
export const codePointIndex = (text: string, index: number): number =>
  index < 0 ? -1 : codePointLength(text.slice(0, index));

/** Pays for going through a text. */
export const spendOnText = (frame: Work, length: number): void => spend(frame, 1 + (length >> 3));

/** Refuses a text that would be too long before it is made. */
export function allowLength(frame: Work, length: number): void {
  if (length > MAX_TEXT_LENGTH) fail(`A text may have at most ${MAX_TEXT_LENGTH} characters.`);
  spendOnText(frame, length);
}
