import { fail } from '../frame.js';
import { isMap, wordFor } from '../values/cel-value.js';
import { keysOf } from '../values/keys-of.js';
import { codePointLength, spendOnText } from '../values/texts.js';
import type { Native } from './native.js';

/** Characters of a text, elements of a list, keys of an object. */
export const sizeOf: Native = (frame, [value = null]) => {
  if (Array.isArray(value)) return BigInt(value.length);
  if (isMap(value)) return BigInt(keysOf(frame, value).length);
  if (typeof value !== 'string') return fail(`${wordFor(value)} has no size`);
  spendOnText(frame, value.length);
  return BigInt(codePointLength(value));
};
