import { fail } from '../frame.js';
import { Duration, NANOS_PER_SECOND, Timestamp } from './moments.js';

const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** RFC 3339 with an offset and up to nine decimals. */
export function parseTimestamp(text: string): Timestamp {
  const parts = RFC_3339.exec(text);
  if (parts === null) return fail(`"${text.slice(0, 40)}" is not an RFC 3339 time`);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(1, 7).map(Number);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60;
  if (!isReal || second > 59) return fail(`"${text}" is not a real time`);
  const offset = (Number(parts[9] ?? 0) * 60 + Number(parts[10] ?? 0)) * (parts[8] === '-' ? -60 : 60);
  const seconds = BigInt(date.getTime() / 1000 - offset);
  return new Timestamp(seconds * NANOS_PER_SECOND + BigInt((parts[7] ?? '').padEnd(9, '0')));
}

const UNITS: Readonly<Record<string, bigint>> = {
  h: 3600n * NANOS_PER_SECOND,
  m: 60n * NANOS_PER_SECOND,
  s: NANOS_PER_SECOND,
  ms: 1_000_000n,
  us: 1_000n,
  µs: 1_000n,
  ns: 1n,
};
const WHOLE = /^[+-]?(?:\d{1,20}(?:\.\d{0,20})?(?:h|ms|m|us|µs|ns|s))+$/;
const PART = /(\d+)(?:\.(\d*))?(h|ms|m|us|µs|ns|s)/g;

/** `1h30m`, `-1.5s`, `250ms`: decimal numbers with units, as CEL (and Go) write durations. */
export function parseDuration(text: string): Duration {
  if (text.length > 64 || !WHOLE.test(text)) return fail(`"${text.slice(0, 40)}" is not a duration`);
  let nanos = 0n;
  for (const [, whole = '0', fraction = '', unit = 's'] of text.matchAll(PART)) {
    const scale = UNITS[unit] ?? 1n;
    nanos += BigInt(whole) * scale + (BigInt(fraction || '0') * scale) / 10n ** BigInt(fraction.length);
  }
  return new Duration(text.startsWith('-') ? -nanos : nanos);
}
