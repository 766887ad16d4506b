import { fail, spend } from '../frame.js';
import { typeOf } from '../values/cel-type.js';
import { isNumber, wordFor } from '../values/cel-value.js';
import { Duration, NANOS_PER_SECOND, Timestamp } from '../values/moments.js';
import { parseDuration, parseTimestamp } from '../values/parse-moments.js';
import { valueToText } from '../values/value-to-text.js';
import { asWhole, type Native } from './native.js';

const PARSE_COST = 20;

export const toText: Native = (_, [value = null]) => valueToText(value);

export const toType: Native = (_, [value = null]) => typeOf(value);

/** RFC 3339 text, or whole seconds since 1970. */
export const toTimestamp: Native = (frame, [value = null]) => {
  if (value instanceof Timestamp) return value;
  if (isNumber(value)) return new Timestamp(BigInt(asWhole(value)) * NANOS_PER_SECOND);
  if (typeof value !== 'string') return fail(`cannot turn ${wordFor(value)} into a time`);
  spend(frame, PARSE_COST);
  return parseTimestamp(value);
};

export const toDuration: Native = (frame, [value = null]) => {
  if (value instanceof Duration) return value;
  if (typeof value !== 'string') return fail(`cannot turn ${wordFor(value)} into a duration`);
  spend(frame, PARSE_COST);
  return parseDuration(value);
};
