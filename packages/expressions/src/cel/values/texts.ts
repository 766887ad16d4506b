import { fail, spend, type Work } from './cel-value.js';

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

/** UTF-16 order differs from code-point order only where one unit is a surrogate and the other lies above them. */
export function byCodePoint(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return aboveSurrogates(x) - aboveSurrogates(y);
  }
  return a.length - b.length;
}

const aboveSurrogates = (unit: number): number => (unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit);

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

/** Up to this length, or this product of lengths, V8's own search takes a few comparisons for each character. */
const SHORT = 8;
const SMALL = 4_096;

/**
 * Finds one text in another in time linear in both (Knuth–Morris–Pratt). V8's own search takes the product of both
 * lengths at worst: 13 s for half a text of 260 KB. Offsets are in UTF-16 units, -1 = not found.
 */
export class TextSearch {
  readonly #text: string;
  readonly #searched: string;
  readonly #isCheap: boolean;
  #forward: Int32Array | undefined;

  constructor(text: string, searched: string) {
    this.#text = text;
    this.#searched = searched;
    this.#isCheap = searched.length <= SHORT || text.length * searched.length <= SMALL;
  }

  /** The first occurrence that begins at `from` or later. */
  first(from: number): number {
    if (this.#isCheap) return this.#text.indexOf(this.#searched, from);
    this.#forward ??= bordersOf(this.#searched, 1);
    return scan(this.#text, this.#searched, this.#forward, from, 1);
  }

  /** The last occurrence that begins at `from` or earlier. */
  last(from: number): number {
    if (this.#isCheap) return this.#text.lastIndexOf(this.#searched, from);
    const start = Math.min(from + this.#searched.length, this.#text.length) - 1;
    return scan(this.#text, this.#searched, bordersOf(this.#searched, -1), start, -1);
  }
}

type Direction = 1 | -1;

/** For each beginning of the text: how long a shorter beginning it ends with. Backwards, beginnings are at its end. */
function bordersOf(searched: string, step: Direction): Int32Array {
  const origin = step === 1 ? 0 : searched.length - 1;
  const borders = new Int32Array(searched.length);
  let length = 0;
  for (let at = 1; at < searched.length; at++) {
    const unit = searched.charCodeAt(origin + step * at);
    while (length > 0 && searched.charCodeAt(origin + step * length) !== unit)
      length = borders[length - 1] ?? 0;
    if (searched.charCodeAt(origin + step * length) === unit) length++;
    borders[at] = length;
  }
  return borders;
}

function scan(text: string, searched: string, borders: Int32Array, from: number, step: Direction): number {
  const origin = step === 1 ? 0 : searched.length - 1;
  let matched = 0;
  for (let at = from; at >= 0 && at < text.length; at += step) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && searched.charCodeAt(origin + step * matched) !== unit)
      matched = borders[matched - 1] ?? 0;
    if (searched.charCodeAt(origin + step * matched) === unit) matched++;
    if (matched === searched.length) return step === 1 ? at - matched + 1 : at;
  }
  return -1;
}
