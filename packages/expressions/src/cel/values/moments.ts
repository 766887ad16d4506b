import { quoted } from '../../messages/error-text.js';
import { BeyondJson } from './cel-value.js';
import { fail } from './evaluation.js';

export const NANOS_PER_SECOND = 1_000_000_000n;
const MIN_TIMESTAMP = -62_135_596_800n * NANOS_PER_SECOND;
const MAX_TIMESTAMP = 253_402_300_800n * NANOS_PER_SECOND - 1n;
const MAX_DURATION = 315_576_000_000n * NANOS_PER_SECOND;

/** A point in time, in nanoseconds since 1970, between the years 1 and 9999. */
export class Timestamp extends BeyondJson {
  readonly kind = 'timestamp';
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    super();
    if (nanos < MIN_TIMESTAMP || nanos > MAX_TIMESTAMP) fail('A time must lie between the years 1 and 9999.');
    this.nanos = nanos;
  }

  /** RFC 3339 in UTC, with as many decimals as are needed: `2026-11-21T09:30:00Z`. */
  toText(): string {
    const fraction = ((this.nanos % NANOS_PER_SECOND) + NANOS_PER_SECOND) % NANOS_PER_SECOND;
    const seconds = (this.nanos - fraction) / NANOS_PER_SECOND;
    return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}${decimals(fraction)}Z`;
  }
}

/** A span of time in nanoseconds, at most 10,000 years either way. */
export class Duration extends BeyondJson {
  readonly kind = 'duration';
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    super();
    if (nanos > MAX_DURATION || nanos < -MAX_DURATION) fail('A duration may be at most 10,000 years.');
    this.nanos = nanos;
  }

  /** Seconds with a unit, as protobuf's JSON has it: `3600s`, `-0.5s`. */
  toText(): string {
    const size = this.nanos < 0n ? -this.nanos : this.nanos;
    const sign = this.nanos < 0n ? '-' : '';
    return `${sign}${size / NANOS_PER_SECOND}${decimals(size % NANOS_PER_SECOND)}s`;
  }
}

function decimals(nanos: bigint): string {
  if (nanos === 0n) return '';
  return `.${nanos.toString().padStart(9, '0').replace(/0+$/, '')}`;
}

const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** RFC 3339 with an offset and up to nine decimals. */
export function parseTimestamp(text: string): Timestamp {
  const parts = RFC_3339.exec(text);
  if (parts === null) return fail(`"${quoted(text, 40)}" is not an RFC 3339 time.`);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(1, 7).map(Number);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60;
  if (!isReal || second > 59) return fail(`"${text}" is not a real time.`);
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
  if (text.length > 64 || !WHOLE.test(text)) return fail(`"${quoted(text, 40)}" is not a duration.`);
  let nanos = 0n;
  for (const [, whole = '0', fraction = '', unit = 's'] of text.matchAll(PART)) {
    const scale = UNITS[unit] ?? 1n;
    nanos += BigInt(whole) * scale + (BigInt(fraction || '0') * scale) / 10n ** BigInt(fraction.length);
  }
  return new Duration(text.startsWith('-') ? -nanos : nanos);
}
