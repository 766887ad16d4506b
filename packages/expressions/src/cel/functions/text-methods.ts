import { fail, spend, type Work } from '../values/cel-value.js';
import {
  allowLength,
  codePointIndex,
  codePointLength,
  slice,
  spendOnText,
  TextSearch,
} from '../values/texts.js';
import { asText, asWhole, type Native } from './conversions.js';

/** A method that goes once through its text. */
const overText =
  (method: (text: string, argument: string) => ReturnType<Native>): Native =>
  (frame, [receiver, argument = '']) => {
    const text = asText(receiver);
    const other = asText(argument);
    spendOnText(frame, text.length + other.length);
    return method(text, other);
  };

const CASE_BIT = 0x20;

/** Switches the case of the ASCII letters between `first` and `last`; all other characters stay. */
function switchCase(text: string, first: string, last: string): string {
  const [from, to] = [first.charCodeAt(0), last.charCodeAt(0)];
  const units = unitsOf(text);
  for (let at = 0; at < units.length; at += 1) {
    const unit = units[at] ?? 0;
    if (unit >= from && unit <= to) units[at] = unit ^ CASE_BIT;
  }
  return textOf(units);
}

/** The UTF-16 units of a text. */
function unitsOf(text: string): Uint16Array {
  const units = new Uint16Array(text.length);
  for (let at = 0; at < units.length; at += 1) units[at] = text.charCodeAt(at);
  return units;
}

/** As many arguments as a call takes everywhere. */
const UNITS_AT_ONCE = 4096;

function textOf(units: Uint16Array): string {
  let text = '';
  for (let at = 0; at < units.length; at += UNITS_AT_ONCE)
    // Spread into a call, as many units take six times as long.
    text += Reflect.apply(String.fromCharCode, undefined, units.subarray(at, at + UNITS_AT_ONCE));
  return text;
}

const lower = (text: string): string => switchCase(text, 'A', 'Z');
const upper = (text: string): string => switchCase(text, 'a', 'z');

const SPACES: ReadonlySet<number> = new Set(
  Array.from(
    '\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000',
    (char) => char.charCodeAt(0),
  ),
);

/** Unicode's White_Space, which is not quite what JavaScript trims. */
function trim(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && SPACES.has(text.charCodeAt(start))) start++;
  while (end > start && SPACES.has(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

const charAt: Native = (frame, [receiver, at]) => {
  const text = asText(receiver);
  spendOnText(frame, text.length);
  return part(text, asWhole(at), asWhole(at) + 1, true);
};

const substring: Native = (frame, [receiver, start, end]) => {
  const text = asText(receiver);
  spendOnText(frame, text.length);
  return part(text, asWhole(start), end === undefined ? codePointLength(text) : asWhole(end), false);
};

function part(text: string, start: number, end: number, lenientEnd: boolean): string {
  const length = codePointLength(text);
  const last = lenientEnd ? length + 1 : length;
  if (start < 0 || start > end || start > length || end > last)
    return fail('The position is outside the text.');
  return slice(text, start, end);
}

/** Charges for going through both texts before they are searched. */
function searchIn(frame: Work, text: string, searched: string): TextSearch {
  spendOnText(frame, text.length + searched.length);
  return new TextSearch(text, searched);
}

const contains: Native = (frame, [receiver, searched]) => {
  if (Array.isArray(receiver))
    return fail('The function "contains" expects text. For a list write "x in list".');
  return searchIn(frame, asText(receiver), asText(searched)).first(0) >= 0;
};

const indexOf: Native = (frame, [receiver, searched, from]) => {
  const text = asText(receiver);
  const search = searchIn(frame, text, asText(searched));
  const start = from === undefined ? 0 : asWhole(from);
  if (start < 0 || start > codePointLength(text)) return fail('The position is outside the text.');
  return BigInt(codePointIndex(text, search.first(slice(text, 0, start).length)));
};

const lastIndexOf: Native = (frame, [receiver, searched, from]) => {
  const text = asText(receiver);
  const search = searchIn(frame, text, asText(searched));
  const start = from === undefined ? codePointLength(text) : asWhole(from);
  if (start < 0 || start > codePointLength(text)) return fail('The position is outside the text.');
  return BigInt(codePointIndex(text, search.last(slice(text, 0, start).length)));
};

const reverse: Native = (frame, [receiver]) => {
  const text = asText(receiver);
  allowLength(frame, text.length);
  return reversed(text);
};

/** Reverses the UTF-16 units, and puts the halves of each pair back in their order. */
function reversed(text: string): string {
  const units = unitsOf(text).reverse();
  for (let at = 0; at + 1 < units.length; at++) {
    const [low = 0, high = 0] = [units[at], units[at + 1]];
    if (low >>> 10 !== 0x37 || high >>> 10 !== 0x36) continue;
    units[at++] = high;
    units[at] = low;
  }
  return textOf(units);
}

/** `list.join(separator)`: a list of texts. */
const joinTexts: Native = (frame, [list, separator = '']) => {
  if (!Array.isArray(list)) return fail('The function join() works on a list of texts.');
  const glue = asText(separator);
  spend(frame, list.length);
  const texts = list.map(asText);
  allowLength(
    frame,
    texts.reduce((length, text) => length + text.length + glue.length, 0),
  );
  return texts.join(glue);
};

/** `text.split(separator, limit)`: at most `limit` parts, the last one being the rest; -1 = all. */
const splitText: Native = (frame, [receiver, separator, limit]) => {
  const text = asText(receiver);
  const by = asText(separator);
  const most = limit === undefined ? -1 : asWhole(limit);
  if (most === 0) return [];
  if (by !== '') return cut(frame, text, by, most);
  const characters = charactersOf(frame, text);
  if (most < 0 || characters.length <= most) return characters;
  return [...characters.slice(0, most - 1), characters.slice(most - 1).join('')];
};

/** The parts of a text between the occurrences of another: at most `most`, the last one being the rest; -1 = all. */
function cut(frame: Work, text: string, by: string, most: number): string[] {
  const search = searchIn(frame, text, by);
  const parts: string[] = [];
  let from = 0;
  while (parts.length !== most - 1) {
    const at = search.first(from);
    if (at < 0) break;
    spend(frame, 1);
    parts.push(text.slice(from, at));
    from = at + by.length;
  }
  parts.push(text.slice(from));
  return parts;
}

function charactersOf(frame: Work, text: string): string[] {
  spend(frame, text.length);
  return [...text];
}

/** `text.replace(old, new, limit)`: the first `limit` occurrences; -1 = all. */
const replaceText: Native = (frame, [receiver, searched, replacement, limit]) => {
  const text = asText(receiver);
  const glue = asText(replacement);
  const by = asText(searched);
  const times = limit === undefined ? -1 : asWhole(limit);
  const parts =
    by === '' ? aroundCharacters(frame, text, times) : cut(frame, text, by, times < 0 ? -1 : times + 1);
  allowLength(frame, text.length + (parts.length - 1) * glue.length);
  return parts.join(glue);
};

/** The empty text occurs before each character and at the end. */
function aroundCharacters(frame: Work, text: string, times: number): string[] {
  const parts = ['', ...charactersOf(frame, text), ''];
  if (times < 0 || times >= parts.length - 1) return parts;
  return [...parts.slice(0, times), parts.slice(times).join('')];
}

export const textMethods: readonly (readonly [string, Native])[] = [
  ['contains/1', contains],
  ['startsWith/1', overText((text, other) => text.startsWith(other))],
  ['endsWith/1', overText((text, other) => text.endsWith(other))],
  ['lowerAscii/0', overText(lower)],
  ['upperAscii/0', overText(upper)],
  ['trim/0', overText(trim)],
  ['charAt/1', charAt],
  ['substring/1', substring],
  ['substring/2', substring],
  ['indexOf/1', indexOf],
  ['indexOf/2', indexOf],
  ['lastIndexOf/1', lastIndexOf],
  ['lastIndexOf/2', lastIndexOf],
  ['reverse/0', reverse],
  ['split/1', splitText],
  ['split/2', splitText],
  ['replace/2', replaceText],
  ['replace/3', replaceText],
  ['join/0', joinTexts],
  ['join/1', joinTexts],
];
