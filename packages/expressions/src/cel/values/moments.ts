import { fail } from '../frame.js';
import { BeyondJson } from './cel-value.js';

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
    if (nanos < MIN_TIMESTAMP || nanos > MAX_TIMESTAMP) fail('a time must lie between the years 1 and 9999');
    this.nanos = nanos;
  }
}

/** A span of time in nanoseconds, at most 10,000 years either way. */
export class Duration extends BeyondJson {
  readonly kind = 'duration';
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    super();
    if (nanos > MAX_DURATION || nanos < -MAX_DURATION) fail('a duration may be at most 10,000 years');
    this.nanos = nanos;
  }
}

/** RFC 3339 in UTC, with as many decimals as are needed: `2026-11-21T09:30:00Z`. */
export function timestampToText({ nanos }: Timestamp): string {
  const fraction = ((nanos % NANOS_PER_SECOND) + NANOS_PER_SECOND) % NANOS_PER_SECOND;
  const seconds = (nanos - fraction) / NANOS_PER_SECOND;
  return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}${decimals(fraction)}Z`;
}

/** Seconds with a unit, as protobuf's JSON has it: `3600s`, `-0.5s`. */
export function durationToText({ nanos }: Duration): string {
  const size = nanos < 0n ? -nanos : nanos;
  const sign = nanos < 0n ? '-' : '';
  return `${sign}${size / NANOS_PER_SECOND}${decimals(size % NANOS_PER_SECOND)}s`;
}

function decimals(nanos: bigint): string {
  if (nanos === 0n) return '';
  return `.${nanos.toString().padStart(9, '0').replace(/0+$/, '')}`;
}
