import { setImmediate as nextTurn } from 'node:timers/promises';
import { createLogger } from '@orrery/service-kit';
import { FakeClock } from '@orrery/testing';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Batch } from '../../store/commit/batch.js';
import type { TimerRow } from '../../store/state/timer-store.js';
import { startTimerKeeper } from './timer-keeper.js';

/** The deployment's follow-up is pending, so the deployment is due; all that is due of it is in the lane. */
const store = vi.hoisted(() => ({ nextDue: vi.fn(), dueTimers: vi.fn() }));
vi.mock('../../store/state/timer-store.js', () => ({
  ...store,
  mayBeMore: () => false,
  putOff: async () => {},
}));

const followUp = { id: 'F', deployment_id: 7, tree: 1, due_at: new Date(0).toISOString() } as TimerRow;

function start() {
  const clock = new FakeClock();
  const inLane = Promise.withResolvers<unknown>();
  store.nextDue.mockImplementation(async (_db, _partitions, except: number[]) => {
    await nextTurn();
    return except.includes(7) ? [] : [{ deploymentId: 7, inMs: -1, isStopped: false }];
  });
  store.dueTimers.mockResolvedValue([]);
  const keeper = startTimerKeeper({
    ...{ db: {}, clock, logger: createLogger({ service: 'test', level: 'silent' }) },
    held: { all: () => [{ partition: 7, epoch: 1 }], epochOf: () => 1 },
    lanes: { submit: () => inLane.promise },
    measureTime: async () => undefined,
  } as never);
  onTestFinished(async () => {
    inLane.resolve('executed');
    await keeper.stop();
  });
  return { keeper, clock };
}

it('a follow-up that a commit has set is not looked for over and over while it is in its lane', async () => {
  const { keeper, clock } = start();
  const timers = new Map([[7, { set: new Map([[followUp.id, followUp]]) }]]);
  keeper.committed({ timers } as unknown as Pick<Batch, 'timers'>);
  keeper.wake();
  await vi.waitFor(() => expect(store.dueTimers).toHaveBeenCalled());
  for (let turn = 0; turn < 100; turn += 1) await nextTurn();
  expect(store.dueTimers).toHaveBeenCalledOnce();
  // It stays busy: what else becomes due is looked for.
  await clock.advance(1000);
  await vi.waitFor(() => expect(store.dueTimers).toHaveBeenCalledTimes(2));
});
