import { Cron } from 'croner';
import { offsetOf, wallClock } from '../time-zones/offset.js';
import type { CronSchedule } from './schedule.js';

/** The due times after `after` up to and including `until`, both in milliseconds since the epoch. */
export interface DueSpan {
  readonly after: number;
  readonly until: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Schedules, due times and time zones that are remembered: many schedules are due at one time, and again at another. */
const MAX_REMEMBERED = 1000;

/** What was computed for a key before, or now. When there are too many, all are forgotten. */
function remembered<T>(known: Map<string, T>, key: string, compute: () => T): T {
  if (known.has(key)) return known.get(key) as T;
  const value = compute();
  if (known.size >= MAX_REMEMBERED) known.clear();
  known.set(key, value);
  return value;
}

interface Calculator {
  readonly cron: Cron;
  /** In another time zone than UTC: whether a single hour and minute is due. */
  readonly isFixed: boolean;
}

const compiled = new Map<string, Calculator>();

/**
 * The calculator of a valid schedule. In another time zone than UTC a single fixed hour and minute is due once a day: in
 * the gap of daylight saving at the first valid minute, in the overlap the first time. Every other pattern is due
 * whenever the clock on the wall matches it (docs/schedules.md).
 * @throws for a schedule that `checkCronSchedule` refuses
 */
const calculatorOf = ({ schedule, timezone }: CronSchedule): Calculator =>
  remembered(compiled, `${timezone} ${schedule}`, () => calculatorFor({ schedule, timezone }));

function calculatorFor({ schedule, timezone }: CronSchedule): Calculator {
  const [minute = '', hour = '', ...dates] = schedule.trim().split(/\s+/);
  const single = timezone === undefined ? undefined : singleTime(minute, hour);
  // The library goes by the spelling: it takes plain numbers for fixed, and `2-3/2` and `*/24` for others.
  const pattern = [...(single ?? [minute, hour]), ...dates].join(' ');
  const cron = new Cron(pattern, { mode: '5-part', paused: true, timezone: timezone ?? 'UTC' });
  return { cron, isFixed: single !== undefined };
}

/** The minute and hour of these two fields if they select a single time of a day. */
function singleTime(minute: string, hour: string): [minute: number, hour: number] | undefined {
  const daily = { schedule: `${minute} ${hour} * * *` };
  const first = calculateNext(daily, -1) ?? 0;
  if (calculateNext(daily, first) !== first + DAY_MS) return undefined;
  const time = new Date(first);
  return [time.getUTCMinutes(), time.getUTCHours()];
}

const calculateNext = (schedule: CronSchedule, after: number): number | undefined =>
  endOfGapAround(schedule, after) ?? calculatorOf(schedule).cron.nextRun(new Date(after))?.getTime();

/** No two changes of a zone's clock are this near to each other. */
const APART_MS = DAY_MS / 4;

/**
 * The first minute after a gap of daylight saving that holds the next time of a single fixed hour and minute. The calculator
 * leaves it out where the gap reaches midnight, as from 23:00 to 24:00 in America/Nuuk. A gap of a whole date has no due time.
 */
function endOfGapAround({ schedule, timezone }: CronSchedule, after: number): number | undefined {
  if (timezone === undefined || !calculatorOf({ schedule, timezone }).isFixed) return undefined;
  const shown = calculateNext({ schedule }, after + offsetAt(timezone, after));
  if (shown === undefined) return undefined;
  const near = shown - offsetAt(timezone, shown);
  const [before, behind] = [offsetAt(timezone, near - APART_MS), offsetAt(timezone, near + APART_MS)];
  if (behind <= before || behind - before >= DAY_MS) return undefined;
  const isInGap =
    offsetAt(timezone, shown - before) === behind && offsetAt(timezone, shown - behind) === before;
  if (!isInGap) return undefined;
  let end = shown - behind;
  while (offsetAt(timezone, end) === before) end += MINUTE_MS;
  return end;
}

const knownNext = new Map<string, number | undefined>();

/** The first due time after a time; undefined where there is none. Milliseconds since the epoch. */
export function nextDue(schedule: CronSchedule, after: number): number | undefined {
  const key = `${after} ${schedule.timezone ?? 'UTC'} ${schedule.schedule}`;
  return remembered(knownNext, key, () => calculateNext(schedule, after));
}

function listDue(schedule: CronSchedule, { after, until }: DueSpan): number[] {
  const times: number[] = [];
  for (let time = calculateNext(schedule, after); time !== undefined && time <= until; ) {
    times.push(time);
    time = calculateNext(schedule, time);
  }
  return times;
}

/** Due times are looked for so far back at first, in days. */
const FIRST_REACH = 32;

/** The last `limit` due times of a span, in order. It looks back further and further until it has found enough. */
export function latestDue(schedule: CronSchedule, { after, until }: DueSpan, limit: number): number[] {
  for (let days = FIRST_REACH; ; days *= 8) {
    const from = Math.max(after, until - days * DAY_MS);
    const times = latestOf(schedule, { after: from, until }, limit);
    if (times.length >= limit || from === after) return times;
  }
}

/** A calculation for each date of the span, and for the due times of a day on which the clocks change, where they are needed. */
function latestOf(schedule: CronSchedule, span: DueSpan, limit: number): number[] {
  const found: number[][] = [];
  let missing = limit;
  const stretches = [...stretchesOf(schedule.timezone, span)];
  for (let last = stretches.pop(); last !== undefined && missing > 0; last = stretches.pop()) {
    const times = latestIn(schedule, last, missing);
    found.unshift(times);
    missing -= times.length;
  }
  return found.flat();
}

/** The last due times of a stretch, in order. Where the clocks change it looks back as `latestDue`, but from minutes on. */
function latestIn(schedule: CronSchedule, stretch: Stretch, limit: number): number[] {
  const { after, until, offset } = stretch;
  if (offset !== undefined) {
    const found = latestByDates(schedule, { after: after + offset, until: until + offset }, limit);
    return found.map((time) => time - offset);
  }
  for (let reach = limit * MINUTE_MS; ; reach *= 8) {
    const from = Math.max(after, until - reach);
    const times = listDue(schedule, { after: from, until });
    if (times.length >= limit || from === after) return times.slice(-limit);
  }
}

/** How many due times a span has. It costs a calculation for each of its dates, however dense the schedule is. */
export function countDue(schedule: CronSchedule, span: DueSpan): number {
  let count = 0;
  for (const { after, until, offset } of stretchesOf(schedule.timezone, span))
    count +=
      offset === undefined
        ? listDue(schedule, { after, until }).length
        : countByDates(schedule, { after: after + offset, until: until + offset });
  return count;
}

/**
 * A part of a span. `offset`: how far the clock on the wall is ahead of UTC on all its days, so that their due times follow
 * from their dates and the times of a day. Without it, the clocks change within a day of it.
 */
interface Stretch extends DueSpan {
  readonly offset: number | undefined;
}

function* stretchesOf(timezone: string | undefined, { after, until }: DueSpan): Generator<Stretch, void> {
  for (let from = after; from < until; ) {
    const offset = offsetAt(timezone, from + 1);
    const midnight = Math.floor((from + 1 + offset) / DAY_MS) * DAY_MS - offset;
    const days = unchangedDays(timezone, midnight, until, offset);
    const end = Math.min(until, days === 0 ? from + DAY_MS : midnight + days * DAY_MS - 1);
    yield { after: from, until: end, offset: days === 0 ? undefined : offset };
    from = end;
  }
}

/** Days from a midnight on, the last of which may end after `until`, that have this offset from beginning to end. */
function unchangedDays(
  timezone: string | undefined,
  midnight: number,
  until: number,
  offset: number,
): number {
  const isUnchanged = (day: number) => offsetAt(timezone, midnight + day * DAY_MS) === offset;
  if (!isUnchanged(0)) return 0;
  let days = 0;
  while (midnight + days * DAY_MS <= until && isUnchanged(days + 1)) days += 1;
  return days;
}

/** Due times of a span of the clock on the wall, which is given as if it were UTC and does not change in it. */
function countByDates(schedule: CronSchedule, span: DueSpan): number {
  const { dates, times } = datesAndTimes(schedule, span);
  return dates.reduce((count, date) => {
    const isWhole = date > span.after && date + DAY_MS <= span.until;
    return count + (isWhole ? times.length : timesOn(date, times, span).length);
  }, 0);
}

/** The last of them, in order. */
function latestByDates(schedule: CronSchedule, span: DueSpan, limit: number): number[] {
  const { dates, times } = datesAndTimes(schedule, span);
  const found: number[] = [];
  for (let date = dates.pop(); date !== undefined && found.length < limit; date = dates.pop())
    found.unshift(...timesOn(date, times, span));
  return found.slice(-limit);
}

/** The dates of a span that a schedule names, and the times that it names of each of them. */
function datesAndTimes({ schedule }: CronSchedule, { after, until }: DueSpan) {
  const [minute = '', hour = '', ...dateFields] = schedule.trim().split(/\s+/);
  const midnights = { schedule: ['0', '0', ...dateFields].join(' ') };
  return {
    dates: listDue(midnights, { after: Math.floor(after / DAY_MS) * DAY_MS - 1, until }),
    times: timesOfDay(`${minute} ${hour}`),
  };
}

const timesOn = (date: number, times: readonly number[], { after, until }: DueSpan): number[] =>
  times.map((time) => date + time).filter((time) => time > after && time <= until);

const knownTimes = new Map<string, readonly number[]>();

/** The times of a day that the fields for minute and hour name, in milliseconds after midnight. */
const timesOfDay = (fields: string): readonly number[] =>
  remembered(knownTimes, fields, () =>
    listDue({ schedule: `${fields} * * *` }, { after: -1, until: DAY_MS - 1 }),
  );

const clocks = new Map<string, Intl.DateTimeFormat>();

/** How far the clock on the wall is ahead of UTC, in milliseconds. */
const offsetAt = (timezone: string | undefined, time: number): number =>
  timezone === undefined
    ? 0
    : offsetOf(
        remembered(clocks, timezone, () => wallClock(timezone)),
        time,
      );
