import type { JsonObject } from '@orrery/contracts';
import randexp from 'randexp';
import { type Random, SchemaNotDrawable } from './random.js';

const WORDS = [
  'amber',
  'brisk',
  'calm',
  'dusk',
  'ember',
  'frost',
  'gale',
  'haze',
  'iris',
  'jade',
  'keen',
  'lark',
];
/** Characters of a text whose schema does not bound it. */
const LENGTH = 24;
/** Characters of the longest text that is drawn. */
const LONGEST = 65_536;
/** Repetitions of what a pattern lets repeat without end. */
const REPETITIONS = 4;
/** Draws from a pattern until one also has the right length. */
const TRIES = 20;

/** A text of the right length: words, or what the pattern describes. */
export function drawText(schema: JsonObject, random: Random): string {
  const least = typeof schema.minLength === 'number' ? schema.minLength : 0;
  const most = typeof schema.maxLength === 'number' ? schema.maxLength : Math.max(LENGTH, least);
  if (least > Math.min(most, LONGEST))
    throw new SchemaNotDrawable(`no text has ${least} to ${most} characters`);
  if (isJsonText(schema)) return JSON.stringify({ note: random.oneOf(WORDS) });
  if (typeof schema.pattern === 'string') return drawMatch(schema.pattern, least, most, random);
  const sample = SAMPLES[String(schema.format)];
  if (sample !== undefined) return sample;
  let text = random.oneOf(WORDS);
  while (text.length < least || (random.chance(0.5) && text.length < most)) text += ` ${random.oneOf(WORDS)}`;
  // A word is cut where it must be; a space at the end would be a poor name.
  return text.length <= most ? text : text.slice(0, most).replace(/ $/, 'a');
}

/** Whether the text is to hold JSON: so the runtime asks for values that no closed schema describes (docs/ai.md). */
export const isJsonText = (schema: JsonObject): boolean =>
  schema.description === 'JSON text' && [schema.type].flat().includes('string');

/** One value for each format that validators commonly check (JSON Schema 2020-12, validation, §7.3). */
const SAMPLES: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00.000Z',
  date: '2026-01-01',
  time: '00:00:00Z',
  email: 'sample@example.com',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  hostname: 'example.com',
};

/** @throws SchemaNotDrawable for a pattern that JavaScript cannot read, or whose matches have another length */
function drawMatch(pattern: string, least: number, most: number, random: Random): string {
  const generator = generatorOf(pattern);
  generator.max = REPETITIONS;
  generator.randInt = random.whole;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const text = generator.gen();
    if (text.length >= least && text.length <= most) return text;
  }
  throw new SchemaNotDrawable(
    `no text of ${least} to ${most} characters was found for the pattern ${pattern}`,
  );
}

/** The package's types speak of a module with a default export; the module is the class itself. */
const RandExp = randexp as unknown as typeof randexp.default;

function generatorOf(pattern: string): InstanceType<typeof RandExp> {
  try {
    return new RandExp(new RegExp(inJavaScript(pattern), 'u').source);
  } catch {
    throw new SchemaNotDrawable(`the pattern ${pattern} cannot be read`);
  }
}

/** What the runtime's engine (RE2) writes otherwise: flags at the start, which a drawn text need not use, and named groups. */
const inJavaScript = (pattern: string): string =>
  pattern.replace(/^\(\?[imsU]+\)/, '').replaceAll('(?P<', '(?<');

/** The range of a number that the schema leaves open, in steps of 1 at least. */
const SPAN = 20;

/** Whole numbers are drawn in steps of `multipleOf`, others in hundredths where the bounds have room for them. */
export function drawNumber(schema: JsonObject, isWhole: boolean, random: Random): number {
  const step = numberAt(schema, 'multipleOf') ?? (isWhole ? 1 : 0.01);
  const least = lowest(schema, step);
  const most = highest(schema, step);
  const low = least ?? Math.min(0, (most ?? 0) - SPAN * Math.max(1, step));
  const high = most ?? Math.max(low, 0) + SPAN * Math.max(1, step);
  if (low > high) throw new SchemaNotDrawable(`no number is from ${low} to ${high}`);
  const from = Math.ceil(low / step - 1e-9);
  const to = Math.floor(high / step + 1e-9);
  if (from > to || !Number.isSafeInteger(from) || !Number.isSafeInteger(to)) return low;
  const drawn = random.whole(from, to) * step;
  return isWhole ? Math.round(drawn) : Math.min(high, Math.max(low, Number(drawn.toPrecision(12))));
}

const numberAt = (schema: JsonObject, ...keywords: string[]): number | undefined =>
  keywords.map((keyword) => schema[keyword]).find((value) => typeof value === 'number');

function lowest(schema: JsonObject, step: number): number | undefined {
  const exclusive = numberAt(schema, 'exclusiveMinimum');
  const inclusive = numberAt(schema, 'minimum');
  if (exclusive === undefined) return inclusive;
  return Math.max(inclusive ?? Number.NEGATIVE_INFINITY, exclusive + step);
}

function highest(schema: JsonObject, step: number): number | undefined {
  const exclusive = numberAt(schema, 'exclusiveMaximum');
  const inclusive = numberAt(schema, 'maximum');
  if (exclusive === undefined) return inclusive;
  return Math.min(inclusive ?? Number.POSITIVE_INFINITY, exclusive - step);
}
