import type { LifecycleEntry } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { correctedTimes, pauseCausesAfter, replayLifecycle } from './replay-lifecycle.js';
import type { Timing } from './schedule-rules.js';

const MINUTE = 60_000;
const NOON = Date.UTC(2030, 5, 2, 12);
const every = { schedule: '* * * * *' };
const fifth = { schedule: '*/5 * * * *' };
const timing: Timing = {
  cron: every,
  isPaused: false,
  deploymentPaused: false,
  nextAt: NOON + MINUTE,
  decidedUntil: NOON,
};
let seq = 0;
const entry = (
  kind: LifecycleEntry['kind'],
  minute: number,
  more: Partial<LifecycleEntry> = {},
): LifecycleEntry => {
  seq += 1;
  const at = new Date(NOON + minute * MINUTE).toISOString();
  return { seq, kind, at, events: [], cause: null, ...more };
};
const base = {
  event: 'train',
  pauseCauses: [],
  isPaused: false,
  cron: every,
  isSameVersion: true,
  versionBefore: 1,
  now: NOON + 20 * MINUTE + 1,
  since: 0,
};
const minutes = (rows: readonly { dueAt: number; until: number | null; status: string }[]) =>
  rows.map(({ dueAt, until, status }) => [
    status,
    (dueAt - NOON) / MINUTE,
    until === null ? null : (until - NOON) / MINUTE,
  ]);

describe('replayLifecycle', () => {
  it('the old definition holds until it was replaced, the new one from then on', () => {
    const entries = [entry('bindings_updated', 2.5, { events: ['train', 'other'] })];
    const replay = replayLifecycle(timing, { ...base, entries, cron: fifth, isSameVersion: false });
    expect(minutes(replay.ledger)).toEqual([
      ['missed', 1, null],
      ['missed', 2, null],
    ]);
    expect(replay.timing).toMatchObject({ cron: fifth, nextAt: NOON + 5 * MINUTE });
  });

  it('a pause that began and ended unseen is one row, and what came before it is missed', () => {
    const entries = [
      entry('paused', 2.5, { cause: 'owner' }),
      entry('paused', 3, { cause: 'operator' }),
      entry('resumed', 4, { cause: 'owner' }),
      entry('resumed', 7.5, { cause: 'operator' }),
    ];
    const replay = replayLifecycle(timing, { ...base, entries });
    expect(minutes(replay.ledger)).toEqual([
      ['missed', 1, null],
      ['missed', 2, null],
      ['paused', 2.5, 7.5],
    ]);
    expect(replay).toMatchObject({ pauseEnded: null, timing: { nextAt: NOON + 8 * MINUTE } });
  });

  it('a pause that lasted before ends in the ledger', () => {
    const paused = { ...timing, deploymentPaused: true, nextAt: null };
    const entries = [entry('resumed', 3, { cause: 'owner' })];
    const replay = replayLifecycle(paused, { ...base, entries, pauseCauses: ['owner'] });
    expect(replay).toMatchObject({ ledger: [], pauseEnded: NOON + 3 * MINUTE });
  });

  it('unbound and bound again in between, nothing was due', () => {
    const entries = [
      entry('binding_removed', 1.5, { events: ['train'] }),
      entry('bindings_added', 10.5, { events: ['train'] }),
    ];
    const replay = replayLifecycle(timing, { ...base, entries, isSameVersion: false });
    expect(minutes(replay.ledger)).toEqual([['missed', 1, null]]);
    expect(replay.timing).toMatchObject({ nextAt: NOON + 11 * MINUTE });
  });

  it('the same version, unbound and bound again in between, was not due either', () => {
    const entries = [
      entry('bindings_updated', 1.2, { events: ['train'] }),
      entry('binding_removed', 2.5, { events: ['train'] }),
      entry('bindings_added', 3.5, { events: ['train'] }),
      entry('binding_removed', 4.5, { events: ['train'] }),
      entry('bindings_added', 10.5, { events: ['train'] }),
      entry('bindings_updated', 12.5, { events: ['train'] }),
    ];
    const replay = replayLifecycle(timing, { ...base, entries });
    expect(minutes(replay.ledger)).toEqual([
      ['missed', 1, null],
      ['missed', 2, null],
    ]);
    expect(replay.timing).toMatchObject({ cron: every, nextAt: NOON + 11 * MINUTE });
  });

  it('nothing happened before it was last looked', () => {
    const notYet = { ...timing, cron: null, nextAt: null, decidedUntil: 0 };
    const bound = {
      ...base,
      entries: [entry('bindings_added', 5.5, { events: ['train'] })],
      isSameVersion: false,
    };
    const nextAt = (more: object) => replayLifecycle(notYet, { ...bound, ...more }).timing.nextAt;
    expect(nextAt({})).toBe(NOON + 6 * MINUTE);
    expect(nextAt({ since: NOON + 8.5 * MINUTE })).toBe(NOON + 9 * MINUTE);
    expect(nextAt({ since: NOON + 60 * MINUTE })).toBe(NOON + 21 * MINUTE);
  });

  it('a clock that is ahead makes nothing happen later than now, and one that is behind nothing earlier than decided', () => {
    const ahead = replayLifecycle(timing, {
      ...base,
      now: NOON + 30_000,
      entries: [entry('paused', 5, { cause: 'owner' })],
      isPaused: true,
    });
    expect(minutes(ahead.ledger)).toEqual([['paused', 0.5, null]]);
    const behind = replayLifecycle(timing, {
      ...base,
      now: NOON + 30_000,
      entries: [entry('paused', -5, { cause: 'owner' })],
      isPaused: true,
    });
    expect(minutes(behind.ledger)).toEqual([['paused', 0, null]]);
  });

  it('what the entries do not tell is taken from how the deployment is', () => {
    const replay = replayLifecycle(timing, { ...base, now: NOON + 30_000, entries: [], cron: null });
    expect(replay.timing).toMatchObject({ cron: null, nextAt: null });
  });

  it('a change of chains alone changes nothing', () => {
    const entries = [entry('bindings_updated', 2.5, { events: ['train'] })];
    expect(replayLifecycle(timing, { ...base, entries })).toEqual({ timing, ledger: [], pauseEnded: null });
  });
});

describe('entries that name the versions that they bind', () => {
  const bound = (kind: LifecycleEntry['kind'], minute: number, version: number) =>
    entry(kind, minute, { events: ['train'], versions: { train: version } });
  const removed = (minute: number) => entry('binding_removed', minute, { events: ['train'] });
  const other = { ...base, cron: fifth, isSameVersion: false };

  it('tell a change of the version from one of the chains alone', () => {
    const entries = [bound('bindings_updated', 2.5, 2), bound('bindings_updated', 12.5, 2)];
    const replay = replayLifecycle(timing, { ...other, entries });
    expect(minutes(replay.ledger)).toEqual([
      ['missed', 1, null],
      ['missed', 2, null],
    ]);
    expect(replay.timing).toMatchObject({ cron: fifth, nextAt: NOON + 5 * MINUTE });
  });

  it('tell that another version was bound in between', () => {
    const entries = [bound('bindings_updated', 2.5, 2), bound('bindings_updated', 12.5, 1)];
    const replay = replayLifecycle(timing, { ...base, entries });
    expect(minutes(replay.ledger)).toEqual([
      ['missed', 1, null],
      ['missed', 2, null],
    ]);
    expect(replay.timing).toMatchObject({ cron: every, nextAt: NOON + 13 * MINUTE });
  });

  it('tell that the version stayed', () => {
    const entries = [bound('bindings_updated', 2.5, 1)];
    expect(replayLifecycle(timing, { ...base, entries })).toEqual({ timing, ledger: [], pauseEnded: null });
    const edited = replayLifecycle(timing, { ...base, entries, cron: fifth });
    expect(edited.timing).toMatchObject({ nextAt: NOON + 25 * MINUTE });
  });

  it('tell of removals', () => {
    const entries = [removed(2.5), bound('bindings_added', 10.5, 1), bound('bindings_updated', 15, 1)];
    expect(replayLifecycle(timing, { ...base, entries }).timing.nextAt).toBe(NOON + 11 * MINUTE);
    const gone = replayLifecycle(timing, {
      ...base,
      entries: [removed(2.5)],
      cron: null,
      isSameVersion: false,
    });
    expect(gone.timing).toMatchObject({ cron: null, nextAt: null });
    const none = { ...timing, cron: null, nextAt: null, decidedUntil: 0 };
    const first = { ...base, versionBefore: null, isSameVersion: false };
    const added = [bound('bindings_added', 5.5, 1), bound('bindings_updated', 9, 1)];
    expect(replayLifecycle(none, { ...first, entries: added }).timing.nextAt).toBe(NOON + 6 * MINUTE);
  });

  it('are as those of an older release where some name none', () => {
    const entries = [
      bound('bindings_updated', 2.5, 2),
      entry('bindings_updated', 12.5, { events: ['train'] }),
    ];
    expect(replayLifecycle(timing, { ...other, entries }).timing.nextAt).toBe(NOON + 15 * MINUTE);
  });
});

it('times are corrected by what the clock of who answered is certainly wrong by', () => {
  const entries = [entry('paused', 0)];
  const minuteAt = (now: number) => {
    const [one] = correctedTimes(entries, NOON + now * MINUTE, [NOON + 10 * MINUTE, NOON + 11 * MINUTE]);
    return (Date.parse(one?.at ?? '') - NOON) / MINUTE;
  };
  expect([8, 10, 10.5, 11, 14].map(minuteAt)).toEqual([2, 0, 0, 0, -3]);
});

describe('what pauses a deployment', () => {
  const entry = (kind: string, cause?: string) => ({ kind, cause }) as LifecycleEntry;

  it('follows from its entries, and from how it is', () => {
    const entries = [entry('paused'), entry('paused', 'budget'), entry('resumed')];
    expect(pauseCausesAfter(['quota'], entries, true)).toEqual(['quota', 'budget']);
    expect(pauseCausesAfter(['quota'], entries, false)).toEqual([]);
    expect(pauseCausesAfter(['owner'], [entry('resumed')], true)).toEqual(['unknown']);
  });
});
