import type { JsonObject } from '@orrery/contracts';
import type { Random } from './random.js';
import { SchemaNotDrawable } from './schema-not-drawable.js';

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
