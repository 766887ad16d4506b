import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { cutText, isCleanText, type JsonObject, type JsonValue } from '../json/json.js';
import { MOST_CONTENT } from './content-limits.js';
import { isBeyondNfcBudget, toNfc } from './nfc.js';

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/**
 * An object with its own keys (not those inside its values) in NFC: the same one where they are. Undefined where two
 * keys become one.
 */
export function withNfcKeys(object: JsonObject): JsonObject | undefined {
  const keys = Object.keys(object);
  const named = keys.map(toNfc);
  if (named.every((name, at) => name === keys[at])) return object;
  const entries = new Map<string, JsonValue>(keys.map((key, at) => [named[at] ?? key, object[key] ?? null]));
  return entries.size === keys.length ? Object.fromEntries(entries) : undefined;
}

const MOST_CHARACTERS = 255;
const NAME_BOUNDS = { minLength: 1, maxLength: MOST_CHARACTERS };

/** Characters are code points, of which each has at most two UTF-16 units. */
const fitsName = (text: string): boolean =>
  text.length <= MOST_CHARACTERS ||
  (text.length <= 2 * MOST_CHARACTERS && [...text].length <= MOST_CHARACTERS);

const BEYOND_BUDGET =
  'The request has more text to be brought to Unicode normal form NFC than is allowed. Send its names in NFC.';

/** A name: 1–255 characters after NFC, no control characters, no space at either end. */
export const name = z
  .string()
  .transform(toNfc)
  .pipe(
    z
      .string()
      .min(1)
      .refine(fitsName, { error: 'A name may have at most 255 characters.', abort: true })
      .refine((text) => !isBeyondNfcBudget(text), { error: BEYOND_BUDGET, abort: true })
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

/** A text of an answer that may be missing. */
export const nullableText = z.string().nullable();

/** A name as it is stored: in answers. */
export const storedName = z.string().meta(NAME_BOUNDS);

/** A name by which something is looked up: in the form in which it is stored. What can be no name is not found. */
export const soughtName = z.string().overwrite(toNfc).meta(NAME_BOUNDS);

/** The same where it is optional: an empty one is refused. */
export const soughtNameInQuery = z.string().min(1).overwrite(toNfc).meta({ maxLength: MOST_CHARACTERS });

/** Where a name has the space that it may not have. */
export function spaceAround(text: string): string {
  const side = text.trimStart() === text ? 'end' : 'start';
  return `The text ${JSON.stringify(cutText(text, 60))} has a space at its ${side}. Leave it out.`;
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
/** A description as it is sent: absent it stays as it is, null removes it. */
export const sentDescription = (meaning: string) =>
  description.nullish().describe(`${meaning} At most 4 KiB as UTF-8 by default.`);
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

/** How many, from 0. */
export const count = z.int().min(0);
/** Which one of a sequence, from 1. */
export const ordinal = z.int().min(1);
/** The number of a record among those of its kind. */
export const recordId = z.int().min(1);

/** What every record has beside its own members. */
export const recordTimes = {
  createdAt: timestamp.describe('When it was created.'),
  updatedAt: timestamp.describe('When it was last changed: `createdAt` if never.'),
};

/** `0x` and 40 lowercase hex digits: 20 random bytes. */
export const newAddress = (): string => `0x${randomBytes(20).toString('hex')}`;

export const address = z
  .string()
  .regex(/^0x[0-9a-f]{40}$/, 'An address has 0x and 40 lowercase hex digits.')
  .meta({
    id: 'Address',
    description: 'An address: 0x and 40 lowercase hex digits.',
    example: `0x${'4f'.repeat(20)}`,
  });

const NUMERIC_ID = /^[1-9]\d{0,15}$/;
const HEX_ADDRESS = /^0x[0-9a-f]{40}$/i;

/** A reference to a world or deployment: its numeric id or its address, in any case of letters. */
export type Reference = { id: number } | { address: string };

/** What a path segment refers to; `undefined` when it can be neither an id nor an address. */
export function parseReference(segment: string): Reference | undefined {
  if (NUMERIC_ID.test(segment))
    return Number.isSafeInteger(Number(segment)) ? { id: Number(segment) } : undefined;
  return HEX_ADDRESS.test(segment) ? { address: segment.toLowerCase() } : undefined;
}
