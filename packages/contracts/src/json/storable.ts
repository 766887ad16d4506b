import { isCleanText, isPollutingKey, MAX_JSON_DEPTH } from './json-guard.js';
import type { JsonObject, JsonValue } from './json-value.js';

/** The text as PostgreSQL and UTF-8 can hold it: U+FFFD takes the place of U+0000 and of lone surrogates. */
export const storableText = (text: string): string =>
  isCleanText(text) ? text : text.toWellFormed().replaceAll('\u0000', '\ufffd');

/** A text of at most `most` UTF-16 units and an ellipsis after what was cut, which is never half a character. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  const splitsPair = last >= 0xd800 && last < 0xdc00;
  return `${text.slice(0, splitsPair ? most - 1 : most)}…`;
}

/**
 * A value that `findUnsafeJson` accepts: the same one where it accepts the given one. Texts and keys are made storable,
 * polluting keys and what is nested deeper than `levels` are left out, and null takes the place of what is no finite
 * number and no JSON.
 */
export function storableJson(value: unknown, levels = MAX_JSON_DEPTH): JsonValue {
  if (typeof value === 'string') return storableText(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'object' || value === null) return null;
  if (!Array.isArray(value)) return storableObject(value, levels);
  return levels < 1 ? [] : value.map((element) => storableJson(element, levels - 1));
}

export function storableObject(value: object, levels = MAX_JSON_DEPTH): JsonObject {
  if (levels < 1) return {};
  const members = Object.entries(value).filter(
    ([key, member]) => !isPollutingKey(key) && member !== undefined,
  );
  return Object.fromEntries(
    members.map(([key, member]) => [storableText(key), storableJson(member, levels - 1)]),
  );
}
