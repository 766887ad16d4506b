import { bytesToHex } from '@noble/hashes/utils.js';
import { z } from 'zod';
import { utf8Bytes } from '#platform';
import { cutText, isCleanText, type JsonObject, type JsonValue } from '../json/json.js';
import { MOST_CONTENT } from './content-limits.js';

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

const boundedText = (maxBytes: number, what: string) =>
  z
    .string()
    .refine((text) => utf8Bytes(text) <= maxBytes, `${what} may have at most ${maxBytes / 1024} KiB.`)
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
export const newAddress = (): string => `0x${bytesToHex(crypto.getRandomValues(new Uint8Array(20)))}`;

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

/** No text of 255 characters has more UTF-16 units in any normal form: a character decomposes into at most four. */
export const MOST_NAME_UNITS = 255 * 4 * 2;

/** Below it (ASCII, Latin) no character has another form in NFC, and none is a mark. */
const FIRST_MARK = 0x300;
const MAY_CHANGE = /[^ -\u02ff]/;

/**
 * A text in Unicode normal form NFC: the form in which names are stored and compared. A text that is longer than any
 * name may be (`MOST_NAME_UNITS`) is returned as it is: it is refused as a name, and nothing is stored under it as a key.
 *
 * The time is proportional to the length. `String.normalize` alone orders a run of marks by insertion, which takes the
 * square of its length (docs/schemas.md).
 */
export function toNfc(text: string): string {
  if (!isNormalizable(text)) return text;
  const normal = (mayHaveLongRun(text) ? text.replace(MARKS, orderMarks) : text).normalize('NFC');
  if (normal !== text) unitsLeft -= text.length;
  return normal;
}

/** UTF-16 units that one request may have changed by normalization, or sorted in long runs of marks: about 15 ms. */
const REQUEST_UNITS = 262_144;

/** Checking a request takes no turn of the event loop, so that one count serves for all. */
let unitsLeft = Number.POSITIVE_INFINITY;

/**
 * Checks a request. Once its texts have used up `REQUEST_UNITS`, `toNfc` returns those that may need normalization as
 * they are: they are refused as names (`isBeyondNfcBudget`), and nothing is found under them.
 */
export function withinNfcBudget<T>(check: () => T): T {
  unitsLeft = REQUEST_UNITS;
  try {
    return check();
  } finally {
    unitsLeft = Number.POSITIVE_INFINITY;
  }
}

/** False: `toNfc` returns the text as it is, and takes next to no time. */
export const mayNeedNfc = (text: string): boolean => text.length <= MOST_NAME_UNITS && MAY_CHANGE.test(text);

const isNormalizable = (text: string): boolean => mayNeedNfc(text) && unitsLeft >= 0;

/** Whether a text that came from `toNfc` may be in another form than NFC, since the request's budget was used up. */
export const isBeyondNfcBudget = (text: string): boolean => unitsLeft < 0 && mayNeedNfc(text);

/** In a run of fewer marks the engine takes a few steps for each of them. */
const LONG_RUN = 32;

function mayHaveLongRun(text: string): boolean {
  let run = 0;
  for (let at = 0; at < text.length; at += 1) {
    run = text.charCodeAt(at) < FIRST_MARK ? 0 : run + 1;
    if (run === LONG_RUN) return true;
  }
  return false;
}

/** Characters that normalization puts into another order are marks. */
const MARKS = /\p{M}{2,}/gu;

/** The only marks that are two non-starters in one. */
const DOUBLE_MARKS: ReadonlyMap<number, string> = new Map(
  Array.from('\u0344\u0f73\u0f75\u0f81', (mark) => [mark.charCodeAt(0), mark.normalize('NFD')] as const),
);

/** The same marks in canonical order: starters stay where they are, and the non-starters between them are sorted. */
function orderMarks(run: string): string {
  if (run.length < LONG_RUN) return run;
  unitsLeft -= run.length;
  const marks = marksOf(run);
  let from = 0;
  for (let at = 0; at <= marks.length; at += 1) {
    const mark = marks[at];
    if (mark !== undefined && classOf(mark) !== STARTER) continue;
    if (at - from >= LONG_RUN) sortByClass(marks, from, at);
    from = at + 1;
  }
  return String.fromCodePoint(...marks);
}

/** Their code points. */
function marksOf(run: string): number[] {
  const marks: number[] = [];
  for (let at = 0; at < run.length; at += 1) {
    const mark = run.codePointAt(at) ?? 0;
    if (mark > 0xffff) at += 1;
    const parts = DOUBLE_MARKS.get(mark);
    marks.push(parts?.charCodeAt(0) ?? mark);
    if (parts !== undefined) marks.push(parts.charCodeAt(1));
  }
  return marks;
}

/** A counting sort, which keeps the order of marks of one class (Unicode Standard, 3.11, D109). */
function sortByClass(marks: number[], from: number, to: number): void {
  const unsorted = marks.slice(from, to);
  /** How many marks of each class there are, and then the position of the next one. */
  const positions = new Uint16Array(CLASSES.length);
  for (const mark of unsorted) positions[classOf(mark)] = (positions[classOf(mark)] ?? 0) + 1;
  let position = from;
  for (const [at, count] of positions.entries()) {
    positions[at] = position;
    position += count;
  }
  for (const mark of unsorted) {
    const at = positions[classOf(mark)] ?? from;
    marks[at] = mark;
    positions[classOf(mark)] = at + 1;
  }
}

/** One mark of each canonical combining class of Unicode, from class 1 to class 240; the first entry is no mark. */
const CLASSES: readonly string[] = [
  '',
  ...'\u0334\u{16ff0}\u093c\u3099\u094d\u05b0\u05b1\u05b2\u05b3\u05b4\u05b5\u05b6\u05b7\u05b8\u05b9\u05bb\u05bc\u05bd',
  ...'\u05bf\u05c1\u05c2\ufb1e\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652\u0670\u0711\u0c55\u0c56\u0e38\u0e48',
  ...'\u0eb8\u0ec8\u0f71\u0f72\u0f74\u0321\u1dce\u031b\u302a\u0316\u059a\u302e\u{1d16d}\u302b\u0300\u0315\u035c\u035d',
  '\u0345',
];

const STARTER = 0;
const UNKNOWN = 255;
const LAST_CLASS = CLASSES.length - 1;

/** The classes found so far, by code point. All marks beyond are starters. */
const classes = new Uint8Array(0x20000).fill(UNKNOWN);

/** The index of a mark's class in `CLASSES`, as the JavaScript engine's own version of Unicode has it. */
function classOf(mark: number): number {
  if (mark >= classes.length) return STARTER;
  if (classes[mark] === UNKNOWN) classes[mark] = findClass(String.fromCodePoint(mark));
  return classes[mark] ?? STARTER;
}

/** The last class that the mark does not move in front of. The last one of all has one mark; what else stays is a starter. */
function findClass(mark: string): number {
  if (mark === CLASSES[LAST_CLASS]) return LAST_CLASS;
  let [low, high] = [STARTER, LAST_CLASS];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (movesBefore(mark, CLASSES[middle] ?? '')) high = middle - 1;
    else low = middle;
  }
  return low === LAST_CLASS ? STARTER : low;
}

const movesBefore = (mark: string, other: string): boolean =>
  (other + mark).normalize('NFD') !== other + mark.normalize('NFD');
