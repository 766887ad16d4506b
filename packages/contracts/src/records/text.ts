import { z } from 'zod';
import { isCleanText } from '../json/json-guard.js';
import type { JsonObject, JsonValue } from '../json/json-value.js';
import { cutText } from '../json/storable.js';
import { MOST_CONTENT } from '../limits/content-limits.js';

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** From here on characters may have another form in NFC; below it (ASCII, Latin) none has. */
const MAY_CHANGE = /[^ -\u02ff]/;

/** A text in Unicode normal form NFC: the form in which names are stored and compared. */
export const toNfc = (text: string): string => (MAY_CHANGE.test(text) ? text.normalize('NFC') : text);

/**
 * An object with its own keys (not those inside its values) in NFC: the same one where they are. Undefined where two
 * keys become one.
 */
export function withNfcKeys(object: JsonObject): JsonObject | undefined {
  const keys = Object.keys(object);
  if (!keys.some((key) => toNfc(key) !== key)) return object;
  const entries = new Map<string, JsonValue>(keys.map((key) => [toNfc(key), object[key] ?? null]));
  return entries.size === keys.length ? Object.fromEntries(entries) : undefined;
}

const NAME_BOUNDS = { minLength: 1, maxLength: 255 };

/** A name: 1–255 characters after NFC, no control characters, no space at either end. */
export const name = z
  .string()
  .transform(toNfc)
  .pipe(
    z
      .string()
      .min(1)
      .refine(
        (text) => text.length <= 255 || [...text].length <= 255,
        'A name may have at most 255 characters.',
      )
      .refine(isCleanText, 'The text may not contain U+0000 or lone surrogates.')
      .refine((text) => !CONTROL.test(text), 'Control characters are not allowed.')
      .refine((text) => text.trim() === text, { error: ({ input }) => spaceAround(String(input)) }),
  )
  .meta({
    id: 'Name',
    ...NAME_BOUNDS,
    description:
      'A name of 1 to 255 characters, counted and stored in Unicode normal form NFC. It has no control characters ' +
      'and no space at either end.',
  });

/** A name as it is stored: in answers. */
export const storedName = z.string().meta(NAME_BOUNDS);

/** Where a name has the space that it may not have. */
export function spaceAround(text: string): string {
  const place = text.trimStart() === text ? 'end' : 'start';
  return `The text ${JSON.stringify(cutText(text, 60))} has a space at its ${place}. Leave it out.`;
}

const bytes = (text: string): number => Buffer.byteLength(text, 'utf8');
const boundedText = (maxBytes: number, what: string) =>
  z
    .string()
    .refine((text) => bytes(text) <= maxBytes, `${what} may have at most ${maxBytes / 1024} KiB.`)
    .refine(isCleanText, 'The text may not contain U+0000 or lone surrogates.')
    .meta({ maxLength: maxBytes, description: `At most ${maxBytes / 1024} KiB as UTF-8.` });

/** Services hold texts to the operator's limits, which may be smaller. */
export const description = boundedText(MOST_CONTENT.descriptionBytes, 'A description');
export const prompt = boundedText(MOST_CONTENT.promptBytes, 'A prompt');

/** RFC 3339, UTC, milliseconds. */
export const timestamp = z.string().meta({
  id: 'Timestamp',
  format: 'date-time',
  description: 'A time by RFC 3339, in UTC, with milliseconds.',
  example: '2026-11-21T09:30:00.000Z',
});

/** 64 lowercase hex digits. */
export const sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'A SHA-256 hash has 64 lowercase hex digits.')
  .meta({ id: 'Sha256', description: 'A SHA-256 hash: 64 lowercase hex digits.' });

/** An `http` or `https` address. */
export const httpAddress = z
  .string()
  .refine((text) => /^https?:\/\//.test(text) && URL.canParse(text), 'An http or https address is required.');

export const deleted = z
  .strictObject({ deleted: z.literal(true).describe('Always true.') })
  .meta({ id: 'Deleted', description: 'The answer of a deletion.' });
