import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changeTiming, decideDue, isSameCron, type LedgerRow, type Timing } from './schedule-rules.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOON = Date.UTC(2030, 5, 2, 12);
const every = { schedule: '* * * * *' };
const active: Timing = {
  cron: every,
  isPaused: false,
  deploymentPaused: false,
  nextAt: NOON + MINUTE,
  decidedUntil: NOON,
};
const sum = (ledger: readonly LedgerRow[]) => ledger.reduce((total, { count }) => total + count, 0);

describe('decideDue', () => {
  it('covers every due time exactly once, whatever the downtime', () => {
    const schedules = ['* * * * *', '*/7 * * * *', '0 */3 * * *', '30 2 * * MON'];
    fc.assert(
      fc.property(fc.constantFrom(...schedules), fc.integer({ min: 0, max: 1500 }), (schedule, minutes) => {
        const cron = { schedule };
        const start = changeTiming({ ...active, cron: null, nextAt: null }, { cron }, NOON, '').timing;
        const now = NOON + minutes * MINUTE;
        if (start.nextAt === null || start.nextAt > now) return;
        const { dueAt, ledger, nextAt, decidedUntil } = decideDue(cron, start.nextAt, now);
        const horizon = Math.max(nextAt ?? 0, now + 5 * HOUR);
        const all = decideDue(cron, start.nextAt, horizon);
        const times = ledger.filter(({ kind }) => kind === 'due').map(({ dueAt }) => dueAt);
        expect(new Set(times).size).toBe(times.length);
        expect(nextAt).toBeGreaterThan(now);
        expect(decidedUntil).toBe(dueAt ?? times.at(-1));
        // What is decided later begins where this ended.
        const rest = decideDue(cron, nextAt ?? 0, horizon);
        expect(
          sum(ledger) + (dueAt === null ? 0 : 1) + sum(rest.ledger) + (rest.dueAt === null ? 0 : 1),
        ).toBe(sum(all.ledger) + (all.dueAt === null ? 0 : 1));
      }),
      { numRuns: 15 },
    );
  });

  it('runs the latest due time of the last hour, to the millisecond', () => {
    const daily = { schedule: '0 12 * * *' };
    expect(decideDue(daily, NOON, NOON + HOUR)).toMatchObject({ dueAt: NOON, ledger: [] });
    expect(decideDue(daily, NOON, NOON + HOUR + 1)).toMatchObject({
      dueAt: null,
      ledger: [{ dueAt: NOON, status: 'missed', reason: 'downtime' }],
    });
  });
});

describe('changeTiming', () => {
  it('a definition that ends leaves what it did not run as missed', () => {
    const change = changeTiming(active, { cron: null }, NOON + 3 * MINUTE, 'binding_changed');
    expect(change.ledger.map(({ dueAt }) => (dueAt - NOON) / MINUTE)).toEqual([1, 2, 3]);
    expect(change.timing).toMatchObject({ nextAt: null, decidedUntil: NOON + 3 * MINUTE });
  });

  it('a pause begins one row, and ends it when the last of its causes ends', () => {
    const paused = changeTiming(active, { isPaused: true }, NOON + 1, 'schedule_paused');
    expect(paused.ledger).toMatchObject([{ kind: 'pause', dueAt: NOON + 1, until: null }]);
    const twice = changeTiming(paused.timing, { deploymentPaused: true }, NOON + 2, 'deployment_paused');
    expect(twice).toMatchObject({ ledger: [], pauseEnded: null });
    const once = changeTiming(twice.timing, { isPaused: false }, NOON + 3, 'schedule_paused');
    expect(once).toMatchObject({ ledger: [], pauseEnded: null });
    const resumed = changeTiming(once.timing, { deploymentPaused: false }, NOON + 90_000, 'x');
    expect(resumed).toMatchObject({ pauseEnded: NOON + 90_000, timing: { nextAt: NOON + 2 * MINUTE } });
  });

  it('a pause says what pauses, whatever began it', () => {
    const unbound = { ...active, cron: null, nextAt: null };
    const reasonOf = (paused: Partial<Timing>) =>
      changeTiming({ ...unbound, ...paused }, { cron: every }, NOON, 'binding_changed').ledger[0]?.reason;
    expect(reasonOf({ deploymentPaused: true })).toBe('deployment_paused');
    expect(reasonOf({ isPaused: true })).toBe('schedule_paused');
    expect(reasonOf({ isPaused: true, deploymentPaused: true })).toBe('schedule_paused');
  });

  it('does not go back behind what is decided', () => {
    const change = changeTiming(active, { cron: { schedule: '*/5 * * * *' } }, NOON - HOUR, 'x');
    expect(change).toMatchObject({ ledger: [], timing: { nextAt: NOON + 5 * MINUTE, decidedUntil: NOON } });
  });
});

it('two definitions are due at the same times where schedule and time zone are the same', () => {
  const cron = { schedule: '0 9 * * *' };
  expect(isSameCron(cron, { ...cron, timezone: 'UTC' })).toBe(true);
  expect(isSameCron(cron, { ...cron, timezone: 'Europe/Berlin' })).toBe(false);
  expect(isSameCron(cron, { schedule: '0 8 * * *' })).toBe(false);
  expect(isSameCron(cron, null)).toBe(false);
  expect(isSameCron(null, null)).toBe(true);
});
