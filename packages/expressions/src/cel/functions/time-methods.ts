import { offsetOf, wallClock } from '../../time-zones/offset.js';
import {
  type CelValue,
  Duration,
  fail,
  NANOS_PER_SECOND,
  spend,
  Timestamp,
  wordFor,
} from '../values/cel-value.js';
import { asText, type Native } from './conversions.js';

const ZONE_COST = 5_000;
const MILLIS = 1_000_000n;
const DAY = 86_400_000;

/** A part of a time, in UTC or in the time zone given (IANA name or `+02:00`); of a duration, its length in the unit. */
const partOf =
  (ofTime: (local: Date) => number, perUnit?: bigint): Native =>
  (frame, [value = null, zone]) => {
    if (value instanceof Duration && perUnit !== undefined && zone === undefined)
      return value.nanos / perUnit;
    if (!(value instanceof Timestamp)) return noTime(value);
    const utc = Number(floorDiv(value.nanos, MILLIS));
    if (zone === undefined) return BigInt(ofTime(new Date(utc)));
    spend(frame, ZONE_COST);
    return BigInt(ofTime(new Date(utc + offsetIn(zoneName(zone), utc))));
  };

const noTime = (value: CelValue): never =>
  fail(
    `The function expects a time, not ${wordFor(value)}.` +
      (typeof value === 'string' ? ' Write "timestamp(x)" around a text.' : ''),
  );

const floorDiv = (value: bigint, by: bigint): bigint =>
  value < 0n && value % by !== 0n ? value / by - 1n : value / by;

const milliseconds: Native = (_, [value = null]) => {
  if (value instanceof Duration) return (value.nanos % NANOS_PER_SECOND) / MILLIS;
  if (!(value instanceof Timestamp)) return noTime(value);
  return BigInt(new Date(Number(floorDiv(value.nanos, MILLIS))).getUTCMilliseconds());
};

function dayOfYear(local: Date): number {
  const firstDay = new Date(local);
  firstDay.setUTCMonth(0, 1);
  return Math.round((local.getTime() - firstDay.getTime()) / DAY);
}

/** Longer names are no time zone, and are not looked up. */
const MAX_ZONE_LENGTH = 64;

function zoneName(zone: CelValue): string {
  const name = asText(zone);
  return name.length <= MAX_ZONE_LENGTH ? name : noZone(name);
}

const noZone = (name: string): never => fail(({ computed }) => `${computed(name, 40)} is not a time zone.`);

const FIXED = /^([+-])?(\d\d):(\d\d)$/;

/** How far a fixed offset (`-02:30`) or an IANA time zone is ahead of UTC at an instant, in milliseconds. */
function offsetIn(zone: string, instant: number): number {
  const fixed = FIXED.exec(zone);
  if (fixed === null) return offsetOf(clockOf(zone), instant);
  return (Number(fixed[2]) * 60 + Number(fixed[3])) * (fixed[1] === '-' ? -60_000 : 60_000);
}

function clockOf(zone: string): Intl.DateTimeFormat {
  try {
    return wallClock(zone);
  } catch {
    return noZone(zone);
  }
}

const PARTS: readonly (readonly [string, Native])[] = [
  ['getFullYear', partOf((local) => local.getUTCFullYear())],
  ['getMonth', partOf((local) => local.getUTCMonth())],
  ['getDate', partOf((local) => local.getUTCDate())],
  ['getDayOfMonth', partOf((local) => local.getUTCDate() - 1)],
  ['getDayOfWeek', partOf((local) => local.getUTCDay())],
  ['getDayOfYear', partOf(dayOfYear)],
  ['getHours', partOf((local) => local.getUTCHours(), 3600n * NANOS_PER_SECOND)],
  ['getMinutes', partOf((local) => local.getUTCMinutes(), 60n * NANOS_PER_SECOND)],
  ['getSeconds', partOf((local) => local.getUTCSeconds(), NANOS_PER_SECOND)],
  ['getMilliseconds', milliseconds],
];

export const timeMethods: readonly (readonly [string, Native])[] = PARTS.flatMap(([name, native]) => [
  [`${name}/0`, native],
  [`${name}/1`, native],
]);
