import { MOST_IN_TREE, MOST_TIMERS, ServiceError } from '@orrery/contracts';
import type { PlannedFollowUp, SealedEntry } from '@orrery/deciding';
import { expect, it } from 'vitest';
import type { DeploymentState } from '../state/deployment-state.js';
import { PendingTimers } from '../state/pending-timers.js';
import { batchRows, newBatch } from './batch.js';
import { checkPlan, stageAllTimers, stageTimerMove, stageTimers, treeSize } from './stage-timers.js';

const running = { owner_paused: false, operator_paused: false, account_paused: false, deleted_at: null };
const stateOf = (totals: Record<string, number> = {}, row: object = running) =>
  ({
    ...{ id: 1, partition: 1, row },
    head: { seq: 4, hash: '', executedAt: '', totals },
    timers: new PendingTimers(),
  }) as unknown as DeploymentState;

const later = (key: string | null = null): PlannedFollowUp => ({
  event: 'race',
  input: {},
  dueAt: 1000,
  isNext: false,
  key,
});
const next: PlannedFollowUp = { event: 'race', input: {}, dueAt: 0, isNext: true, key: null };
const entry = { id: '0192f0c1-2b3c-7d4e-8f50-61728394a5b6', seq: 5 } as SealedEntry;
const caller = { kind: 'account' as const, accountId: 1, scopes: [] };
const staged = (state: DeploymentState, planned: PlannedFollowUp[], ended?: object) => {
  const batch = newBatch(2);
  stageTimers(batch, state, { planned, caller, depth: 1, ...(ended && { ended: ended as never }) }, entry);
  return batch.timers.get(1);
};
const codeOf = (work: () => unknown) => {
  try {
    return work();
  } catch (error) {
    return error instanceof ServiceError ? error.code : error;
  }
};

it('a key must be in memory before a timer is set or cancelled under it', () => {
  const state = stateOf();
  expect(checkPlan(state, [later('k'), { cancel: 'c' }, later('k'), later()])).toEqual(['k', 'c']);
  for (const key of ['k', 'c']) state.timers.learn(key, null);
  expect(checkPlan(state, [later('k'), { cancel: 'c' }])).toEqual([]);
});

it('at most so many are pending: one that replaces another, and one that is executed, count once', () => {
  const state = stateOf({ timers: MOST_TIMERS });
  state.timers.learn('k', { id: 'old', key: 'k', tree: null });
  expect(codeOf(() => checkPlan(state, [later()]))).toBe('too_many_timers');
  expect(codeOf(() => checkPlan(state, [later('k'), later('k')]))).toEqual([]);
  expect(codeOf(() => checkPlan(state, [later()], { ends: 1 }))).toEqual([]);
  expect(codeOf(() => checkPlan(state, [{ cancel: 'k' }]))).toEqual([]);
});

it('a tree has room for one that says that there is none', () => {
  const tree = { tree: 3 };
  const stateWith = (size: number) => stateOf({ tree_3: size, tree_3_open: 1 });
  expect(codeOf(() => checkPlan(stateWith(MOST_IN_TREE), [next], tree))).toEqual([]);
  expect(codeOf(() => checkPlan(stateWith(MOST_IN_TREE + 1), [next], tree))).toBe('follow_up_too_deep');
  expect(codeOf(() => checkPlan(stateWith(MOST_IN_TREE), [next, next], tree))).toBe('follow_up_too_deep');
  expect(codeOf(() => checkPlan(stateWith(MOST_IN_TREE + 1), [later()], tree))).toEqual([]);
});

it('follow-ups without delay are numbered in their tree, which is forgotten with the last', () => {
  const state = stateOf();
  const first = staged(state, [next, next, later()]);
  expect([...(first?.set.values() ?? [])].map(({ tree, number }) => [tree, number])).toEqual([
    [5, 2],
    [5, 3],
    [null, null],
  ]);
  expect(state.head.totals).toEqual({ timers: 3, tree_5: 3, tree_5_open: 2 });
  expect(treeSize(state.head.totals, 5)).toBe(3);
  const [one, two] = [...(first?.set.keys() ?? [])];
  expect([...state.timers.next.keys()][0]).toBe(one);
  const ends = (id: string | undefined) => ({ id, key: null, tree: 5, runId: null });
  staged(state, [], ends(one));
  expect(state.head.totals).toEqual({ timers: 2, tree_5: 3, tree_5_open: 1 });
  staged(state, [], ends(two));
  expect(state.head.totals).toEqual({ timers: 1 });
});

it('a timer that is replaced in the batch that set it leaves no row', () => {
  const state = stateOf();
  state.timers.learn('k', { id: 'old', key: 'k', tree: null });
  const writes = staged(state, [later('k'), later('k'), { cancel: 'other' }]);
  expect(writes?.set.size).toBe(1);
  expect([...(writes?.moved ?? [])]).toEqual([['old', { was: null, now: null, gone: true }]]);
});

it('what is next is computed without those that are moved, and with those that are set', () => {
  const state = stateOf({ timers: 1 });
  const batch = newBatch(2);
  const ended = { id: 'gone', key: null, tree: null, runId: null };
  stageTimers(batch, state, { planned: [later()], caller, depth: 1, ended }, entry);
  const { timerHeads } = batchRows(batch, 'me');
  expect(JSON.parse(timerHeads)).toEqual([
    {
      deployment_id: 1,
      partition: 1,
      earliest: '1970-01-01T00:00:01.000Z',
      without: '{gone}',
      cancelled: false,
    },
  ]);
});

it('a run takes its timer, and may give it back', () => {
  const state = stateOf({ timers: 1 });
  const batch = newBatch(2);
  const move = { timer: { id: 't', key: 'k', tree: null }, runId: 'r', dueAt: '2030-01-01T00:00:00.000Z' };
  stageTimerMove(batch, state, { ...move, isTaken: true });
  expect(batch.timers.get(1)?.moved.get('t')).toEqual({ was: null, now: 'r', gone: false });
  expect(state.timers.isGone('t')).toBe(true);
  stageTimerMove(batch, state, { ...move, isTaken: false });
  expect(batch.timers.get(1)?.moved.get('t')).toMatchObject({ was: 'r', now: null, dueAt: move.dueAt });
  expect(state.timers.isGone('t')).toBe(false);
});

it('a deletion cancels all, after a pause what is next is computed anew, and without timers nothing is', () => {
  const writesOf = (state: DeploymentState) => {
    const batch = newBatch(2);
    stageAllTimers(batch, state);
    return batch.timers.get(1)?.areCancelled;
  };
  expect(writesOf(stateOf({ timers: 1 }, { ...running, deleted_at: new Date(), owner_paused: true }))).toBe(
    true,
  );
  expect(writesOf(stateOf({ timers: 1 }))).toBe(false);
  expect(writesOf(stateOf({ timers: 1 }, { ...running, owner_paused: true }))).toBeUndefined();
  expect(writesOf(stateOf())).toBeUndefined();
});
