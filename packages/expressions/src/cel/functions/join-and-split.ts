import { fail, spend } from '../frame.js';
import { allowLength, spendOnText } from '../values/texts.js';
import { asText, asWhole, type Native } from './native.js';

/** `list.join(separator)`: a list of texts. */
export const joinTexts: Native = (frame, [list, separator = '']) => {
  if (!Array.isArray(list)) return fail('join() works on a list of texts');
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
export const splitText: Native = (frame, [receiver, separator, limit]) => {
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
export const replaceText: Native = (frame, [receiver, searched, replacement, limit]) => {
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
