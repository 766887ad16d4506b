import { fail, spend } from '../frame.js';
import { allowLength, codePointIndex, codePointLength, slice, spendOnText } from '../values/texts.js';
import { asText, asWhole, type Native } from './native.js';

/** A method that goes once through its text. */
const overText =
  (method: (text: string, argument: string) => ReturnType<Native>): Native =>
  (frame, [receiver, argument = '']) => {
    const text = asText(receiver);
    spendOnText(frame, text.length);
    return method(text, asText(argument));
  };

const lower = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
const upper = (text: string): string => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());

const SPACES =
  '\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000';
const isSpace = (char: string): boolean => SPACES.includes(char);

/** Unicode's White_Space, which is not quite what JavaScript trims. */
function trim(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isSpace(text.charAt(start))) start++;
  while (end > start && isSpace(text.charAt(end - 1))) end--;
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

const indexOf: Native = (frame, [receiver, searched, from]) => {
  const text = asText(receiver);
  spendOnText(frame, text.length);
  const start = from === undefined ? 0 : asWhole(from);
  if (start < 0 || start > codePointLength(text)) return fail('The position is outside the text.');
  return BigInt(codePointIndex(text, text.indexOf(asText(searched), slice(text, 0, start).length)));
};

const lastIndexOf: Native = (frame, [receiver, searched, from]) => {
  const text = asText(receiver);
  spendOnText(frame, text.length);
  const start = from === undefined ? codePointLength(text) : asWhole(from);
  if (start < 0 || start > codePointLength(text)) return fail('The position is outside the text.');
  return BigInt(codePointIndex(text, text.lastIndexOf(asText(searched), slice(text, 0, start).length)));
};

const reverse: Native = (frame, [receiver]) => {
  const text = asText(receiver);
  allowLength(frame, text.length);
  return [...text].reverse().join('');
};

/** `list.join(separator)`: a list of texts. */
const joinTexts: Native = (frame, [list, separator = '']) => {
  if (!Array.isArray(list)) return fail('The function join() works on a list of texts.');
  const glue = asText(separator);
  const texts = list.map(asText);
  spend(frame, texts.length);
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
  spendOnText(frame, text.length);
  if (most === 0) return [];
  const parts = by === '' ? [...text] : text.split(by);
  spend(frame, parts.length);
  if (most < 0 || parts.length <= most) return parts;
  return [...parts.slice(0, most - 1), parts.slice(most - 1).join(by)];
};

/** `text.replace(old, new, limit)`: the first `limit` occurrences; -1 = all. */
const replaceText: Native = (frame, [receiver, searched, replacement, limit]) => {
  const text = asText(receiver);
  const glue = asText(replacement);
  const by = asText(searched);
  spend(frame, text.length);
  const parts = by === '' ? ['', ...text, ''] : text.split(by);
  const times = limit === undefined ? -1 : asWhole(limit);
  const count = times < 0 ? parts.length - 1 : Math.min(times, parts.length - 1);
  allowLength(frame, text.length + count * glue.length);
  return parts.slice(0, count + 1).join(glue) + rest(parts.slice(count + 1), by);
};

const rest = (parts: readonly string[], by: string): string => parts.map((part) => by + part).join('');

export const textMethods: readonly (readonly [string, Native])[] = [
  ['contains/1', overText((text, other) => text.includes(other))],
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
