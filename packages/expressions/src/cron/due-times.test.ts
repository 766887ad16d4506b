import { cpuMs } from '@orrery/contracts/test-support';
import { Cron } from 'croner';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { countDue, type DueSpan, latestDue, nextDue } from './due-times.js';
import { type CronSchedule, describeSchedule } from './schedule.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** What the clock on the wall shows at each minute of a span, as if it were UTC. */
function wallClock(timeZone: string, from: number, until: number): ReadonlyMap<number, number> {
  const numeric = 'numeric' as const;
  const fields = { year: numeric, month: numeric, day: numeric, hour: numeric, minute: numeric };
  const format = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...fields });
  const minutes = Array.from({ length: (until - from) / MINUTE + 1 }, (_, index) => from + index * MINUTE);
  return new Map(
    minutes.map((time) => {
      const parts = format.formatToParts(time).map(({ type, value }) => [type, Number(value)]);
      const of: Partial<Record<string, number>> = Object.fromEntries(parts);
      return [time, Date.UTC(of['year'] ?? 0, (of['month'] ?? 0) - 1, of['day'], of['hour'], of['minute'])];
    }),
  );
}

type Fields = { minutes: ReadonlySet<number>; hours: ReadonlySet<number> };

/** Every minute at which the wall clock matches; of a single fixed time the first minute at or after it of each day. */
function expectedTimes({ minutes, hours }: Fields, wall: ReadonlyMap<number, number>): number[] {
  const matches = (shown: number) =>
    minutes.has(new Date(shown).getUTCMinutes()) && hours.has(new Date(shown).getUTCHours());
  const times: number[] = [];
  const isFixed = minutes.size === 1 && hours.size === 1;
  const [[, before] = [0, 0], ...minutesAfter] = wall;
  let latest = before;
  for (const [time, shown] of minutesAfter) {
    if (!isFixed && matches(shown)) times.push(time);
    let isDue = false;
    for (let passed = latest + MINUTE; passed <= shown; passed += MINUTE) isDue ||= matches(passed);
    if (isFixed && isDue) times.push(time);
    latest = Math.max(latest, shown);
  }
  return times;
}

function foundTimes(schedule: string, timezone: string, from: number, until: number): number[] {
  return latestDue({ schedule, timezone }, { after: from - 1, until }, 100_000);
}

/** Due times as each follows from the one before it. */
function listOneByOne(schedule: CronSchedule, { after, until }: DueSpan): number[] {
  const times: number[] = [];
  for (let time = nextDue(schedule, after); time !== undefined && time <= until; ) {
    times.push(time);
    time = nextDue(schedule, time);
  }
  return times;
}

const shown = (times: readonly number[]) => times.map((time) => new Date(time).toISOString().slice(0, 16));

/** The days on which the clocks change. */
const CHANGES = [
  ['Europe/Berlin', '2026-03-29'],
  ['Europe/Berlin', '2026-10-25'],
  ['America/New_York', '2026-03-08'],
  ['America/New_York', '2026-11-01'],
  ['Australia/Lord_Howe', '2026-04-05'],
  ['Australia/Lord_Howe', '2026-10-04'],
  ['America/Santiago', '2026-09-06'],
  ['America/Nuuk', '2026-03-29'],
  ['America/Nuuk', '2026-10-25'],
  ['Asia/Kathmandu', '2026-03-29'],
] as const;

const range = (from: number, to: number, step = 1) =>
  new Set(Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step));
const PATTERNS: readonly (readonly [schedule: string, Fields])[] = [
  ['30 2 * * *', { minutes: new Set([30]), hours: new Set([2]) }],
  ['0 2 * * *', { minutes: new Set([0]), hours: new Set([2]) }],
  ['15 2 * * *', { minutes: new Set([15]), hours: new Set([2]) }],
  ['0 0 * * *', { minutes: new Set([0]), hours: new Set([0]) }],
  ['0 23 * * *', { minutes: new Set([0]), hours: new Set([23]) }],
  ['30 23 * * *', { minutes: new Set([30]), hours: new Set([23]) }],
  ['0-0 23-23 * * *', { minutes: new Set([0]), hours: new Set([23]) }],
  ['30,30 23,23 * * *', { minutes: new Set([30]), hours: new Set([23]) }],
  ['30-59/30 2-3/2 * * *', { minutes: new Set([30]), hours: new Set([2]) }],
  ['*/59 23 * * *', { minutes: new Set([0, 59]), hours: new Set([23]) }],
  ['15 */24 * * *', { minutes: new Set([15]), hours: new Set([0]) }],
  ['30 1 * * *', { minutes: new Set([30]), hours: new Set([1]) }],
  ['0,30 2 * * *', { minutes: new Set([0, 30]), hours: new Set([2]) }],
  ['30 2,3 * * *', { minutes: new Set([30]), hours: new Set([2, 3]) }],
  ['* 2 * * *', { minutes: range(0, 59), hours: new Set([2]) }],
  ['0 * * * *', { minutes: new Set([0]), hours: range(0, 23) }],
  ['*/20 * * * *', { minutes: range(0, 59, 20), hours: range(0, 23) }],
  ['45 1-3 * * *', { minutes: new Set([45]), hours: range(1, 3) }],
];

describe('daylight saving', () => {
  it.each(CHANGES)('in %s around %s every due time is as the wall clock says', (zone, date) => {
    const from = Date.parse(`${date}T00:00:00Z`) - DAY;
    const until = from + 3 * DAY;
    const wall = wallClock(zone, from - MINUTE, until);
    for (const [schedule, fields] of PATTERNS) {
      const expected = shown(expectedTimes(fields, wall));
      expect([schedule, ...shown(foundTimes(schedule, zone, from, until))]).toEqual([schedule, ...expected]);
    }
  });

  it('a fixed time in the gap is due at the first valid minute, in the overlap the first time', () => {
    const berlin = { schedule: '30 2 * * *', timezone: 'Europe/Berlin' };
    const next = (schedule: typeof berlin, after: string) =>
      shown([nextDue(schedule, Date.parse(after)) ?? 0])[0];
    expect(next(berlin, '2026-03-28T12:00:00Z')).toBe('2026-03-29T01:00');
    expect(next(berlin, '2026-03-29T01:00:00Z')).toBe('2026-03-30T00:30');
    expect(next(berlin, '2026-10-24T12:00:00Z')).toBe('2026-10-25T00:30');
    expect(next(berlin, '2026-10-25T00:30:00Z')).toBe('2026-10-26T01:30');
    const lordHowe = { schedule: '15 2 * * *', timezone: 'Australia/Lord_Howe' };
    expect(next(lordHowe, '2026-10-03T00:00:00Z')).toBe('2026-10-03T15:30');
    const nuuk = { schedule: '30 23 * * SAT', timezone: 'America/Nuuk' };
    expect(next(nuuk, '2026-03-23T00:00:00Z')).toBe('2026-03-29T01:00');
    expect(next(nuuk, '2026-03-29T01:00:00Z')).toBe('2026-04-05T00:30');
    const samoa = { schedule: '0 6 * * *', timezone: 'Pacific/Apia' };
    expect(next(samoa, '2011-12-29T16:00:00Z')).toBe('2011-12-30T16:00');
    const kathmandu = { schedule: '0 6 * * *', timezone: 'Asia/Kathmandu' };
    expect(next(kathmandu, '2026-11-22T00:15:00Z')).toBe('2026-11-23T00:15');
  });
});

describe('due times', () => {
  it('day of month and day of week both given mean either', () => {
    const times = foundTimes('0 0 13 * FRI', 'UTC', Date.UTC(2026, 10, 1), Date.UTC(2026, 10, 30));
    expect(shown(times).map((time) => time.slice(8, 10))).toEqual(['06', '13', '20', '27']);
  });

  it('are counted, and the last of them found, as they come one after the other, over any span', () => {
    const changing = ['Europe/Berlin', 'Australia/Lord_Howe', 'America/Santiago', 'America/Nuuk'];
    const zones = ['UTC', ...changing, 'Asia/Kathmandu'];
    const schedules = [
      '*/7 * * * *',
      '30 2 * * *',
      '30 23 * * *',
      '0 */5 * * *',
      '15 0,2,23 1-10 * MON',
      '0 0 31 * *',
    ];
    const start = Date.UTC(2026, 0, 1);
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.constantFrom(...schedules),
        fc.integer({ min: 0, max: 300 * 24 * 60 }),
        fc.integer({ min: 0, max: 12 * 24 * 60 }),
        fc.integer({ min: 1, max: 150 }),
        (timezone, schedule, offset, minutes, limit) => {
          const after = start + offset * MINUTE;
          const span = { after, until: after + minutes * MINUTE };
          const listed = listOneByOne({ schedule, timezone }, span);
          expect(countDue({ schedule, timezone }, span)).toBe(listed.length);
          expect(latestDue({ schedule, timezone }, span, limit)).toEqual(listed.slice(-limit));
        },
      ),
      { numRuns: 60 },
    );
  });

  it.each(CHANGES)('the last of them are found in %s around %s', (timezone, date) => {
    const after = Date.parse(`${date}T00:00:00Z`) - 2 * DAY + 90_000;
    for (const [schedule] of PATTERNS) {
      const all = listOneByOne({ schedule, timezone }, { after, until: after + 4 * DAY });
      for (let until = after; until < after + 4 * DAY; until += 7 * HOUR) {
        const listed = all.filter((time) => time <= until);
        for (const limit of [1, 3])
          expect(latestDue({ schedule, timezone }, { after, until }, limit)).toEqual(listed.slice(-limit));
      }
    }
  });

  it('that end long before the span does are found by their dates', () => {
    const calculations = vi.spyOn(Cron.prototype, 'nextRun');
    onTestFinished(() => calculations.mockRestore());
    const dense = { schedule: '* * * 1-6 *', timezone: 'Europe/Vienna' };
    const span = { after: Date.UTC(2028, 11, 30), until: Date.UTC(2030, 11, 30) };
    expect(shown(latestDue(dense, span, 2))).toEqual(['2030-06-30T21:58', '2030-06-30T21:59']);
    // One for each minute of the last June to January would be a quarter of a million.
    expect(calculations.mock.calls.length).toBeLessThan(2500);
  });

  it('of years are counted and the last of them listed in no time', () => {
    const every = { schedule: '* * * * *', timezone: 'Europe/Berlin' };
    const span = { after: Date.UTC(2023, 0, 1), until: Date.UTC(2026, 0, 1) };
    expect(cpuMs(() => expect(countDue(every, span)).toBe(1096 * 1440))).toBeLessThan(5000);
    expect(shown(latestDue(every, span, 2))).toEqual(['2025-12-31T23:59', '2026-01-01T00:00']);
    expect(latestDue({ schedule: '0 0 29 2 *' }, span, 5)).toEqual([Date.UTC(2024, 1, 29)]);
  });

  it('of a downtime that many schedules had are counted in no time', () => {
    const every = { schedule: '* * * * *', timezone: 'Europe/Berlin' };
    const count = (n: number) => {
      const after = Date.UTC(2026, 5, 1) + n * MINUTE;
      expect(countDue(every, { after, until: after + 3 * 1440 * MINUTE })).toBe(3 * 1440);
    };
    expect(cpuMs(() => Array.from({ length: 100 }, (_, n) => count(n)))).toBeLessThan(2000);
  });

  it('of an empty span are none', () => {
    expect(countDue({ schedule: '* * * * *' }, { after: 0, until: 0 })).toBe(0);
    expect(latestDue({ schedule: '* * * * *' }, { after: 0, until: 30_000 }, 9)).toEqual([]);
  });
});

describe('describeSchedule', () => {
  it('says a schedule in words', () => {
    expect(describeSchedule({ schedule: '30 9 * * MON-FRI' })).toBe('At 09:30, Monday through Friday');
    expect(describeSchedule({ schedule: '*/5 * * * *' })).toBe('Every 5 minutes');
  });
});
