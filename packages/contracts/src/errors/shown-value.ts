import { cutText } from '../json/storable.js';

/** Characters of a text that a message repeats. */
const SHOWN_LENGTH = 40;

/** A value in the words of a message, with its type: `the text "7"`, `the number 7`, `true`, `null`, `a list of 3`. */
export function shownValue(value: unknown): string {
  if (typeof value === 'string')
    return value === '' ? 'an empty text' : `the text ${JSON.stringify(cutText(value, SHOWN_LENGTH))}`;
  if (typeof value === 'number') return `the number ${value}`;
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`;
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
