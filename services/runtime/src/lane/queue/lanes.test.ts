import { setImmediate } from 'node:timers/promises';
import { createLogger, createSemaphore } from '@orrery/service-kit';
import { expect, it, vi } from 'vitest';
import type { DeploymentState } from '../../store/state/deployment-state.js';
import { OpenRuns } from '../../store/state/deployment-state.js';
import { PendingTimers } from '../../store/state/pending-timers.js';
import { createBatches } from './lanes.js';
import type { LaneParts, QueuedItem, WaitingItems } from './queued-items.js';
import { createTurns } from './resident-states.js';

const stateOf = (id: number) =>
  ({
    id,
    partition: id,
    epoch: 1,
    row: { deleted_at: null },
    head: { executedAt: new Date(0).toISOString() },
    runs: new OpenRuns(),
    timers: new PendingTimers(),
  }) as unknown as DeploymentState;

/** A step of a run, the least that is committed. */
const decideStep = () => {
  const run = { id: 'run', open: null, write: { insert: {} } };
  return { kind: 'record', run, settlement: { reply: 'done' } };
};

function itemFor(state: DeploymentState, decide: () => unknown = decideStep): QueuedItem {
  const item = {
    deploymentId: state.id,
    deadline: Number.POSITIVE_INFINITY,
    signal: { aborted: false },
    decide,
  };
  const rest = {
    stage: 'undecided',
    state,
    needs: undefined,
    isolated: false,
    violations: 0,
    preparations: 1,
    reject: vi.fn(),
    resolve: vi.fn(),
  };
  return { item, ...rest } as unknown as QueuedItem;
}

const COMMITTED = { kind: 'committed' } as const;
const REFUSED = { kind: 'refused', lost: [], heads: [], runs: [], keys: [], timers: [] } as const;

type Dependencies = LaneParts & {
  readonly prepareAndQueue: (queued: QueuedItem) => void;
  /** The commit of a batch has ended. */
  readonly release: WaitingItems['release'];
  readonly preparing: { readonly keys: () => MapIterator<number> };
};

function batches({
  prepareAndQueue = () => {},
  release = () => {},
  preparing = new Map(),
  ...some
}: Partial<Dependencies>) {
  const parts = {
    states: { isCurrent: () => true, forget: vi.fn(), trim: vi.fn(), hasGrown: () => false } as never,
    commitSlots: createSemaphore(2),
    journalForm: { version: 2 },
    ids: {} as never,
    lostTails: { endLostBy: () => undefined, acknowledge: () => undefined },
    clock: { now: () => 0, monotonic: () => 0 },
    commit: () => Promise.resolve(COMMITTED),
    recover: () => Promise.resolve('unwritten'),
    onCommitted: () => undefined,
    onLost: () => undefined,
    logger: createLogger({ service: 'test', level: 'silent' }),
    ...some,
  } as LaneParts;
  const waiting = { isAwaited: () => false, release } as Partial<WaitingItems> as WaitingItems;
  return createBatches(parts, waiting, createTurns(parts.states), prepareAndQueue, preparing).add;
}

it('a deployment that was read again during its commit is forgotten after it, others are not', async () => {
  const [stays, replaced] = [stateOf(1), stateOf(2)];
  const current = new Set([stays, replaced]);
  const forget = vi.fn();
  const through = new Promise<void>((resolve) => {
    const add = batches({
      states: {
        isCurrent: (state: DeploymentState) => current.has(state),
        forget,
        trim: () => undefined,
        hasGrown: () => false,
      } as never,
      // Its partition was lost and held again.
      commit: async () => (current.delete(replaced) ? COMMITTED : REFUSED),
      release: () => resolve(),
    });
    for (const state of [stays, replaced]) add(itemFor(state));
  });
  await through;
  expect(forget.mock.calls).toEqual([[2]]);
});

it('a commit begins only when a slot is free, and takes one as soon as it is released', async () => {
  const begun: (() => void)[] = [];
  const commit: Dependencies['commit'] = () => new Promise((resolve) => begun.push(() => resolve(COMMITTED)));
  const add = batches({ commitSlots: createSemaphore(2), commit });
  for (let round = 0; round < 4; round += 1) {
    for (let count = 0; count < 8; count += 1) add(itemFor(stateOf(round * 8 + count)));
    // What was added in one turn of the event loop has been looked at before this one's end.
    await setImmediate();
  }
  expect(begun).toHaveLength(2);
  begun[0]?.();
  await vi.waitFor(() => expect(begun).toHaveLength(3));
  for (const end of begun) end();
});

it('decides what takes long in slices, between which the event loop serves others', async () => {
  const time = { at: 0 };
  const happened: string[] = [];
  const clock = { now: () => 0, monotonic: () => time.at } as never;
  const add = batches({ clock, commitSlots: createSemaphore(3) });
  const items = Array.from({ length: 6 }, (_, index) =>
    itemFor(stateOf(1), () => {
      time.at += 15;
      happened.push(`item ${index}`);
      return { kind: 'answer', answer: index };
    }),
  );
  for (const item of items) add(item);
  const others = async () => {
    for (let turn = 0; turn < 3; turn += 1) {
      await setImmediate();
      happened.push('others');
    }
  };
  await others();
  expect(happened).toEqual([
    ...['item 0', 'item 1', 'others', 'item 2', 'item 3', 'others', 'item 4', 'item 5', 'others'],
  ]);
  expect(items.map(({ resolve }) => vi.mocked(resolve).mock.calls)).toEqual(
    items.map((_, index) => [[index]]),
  );
});

it('a commit that ends begins no slice within the turn of another', async () => {
  const time = { at: 0 };
  const begun: (() => void)[] = [];
  const commit: Dependencies['commit'] = () => new Promise((resolve) => begun.push(() => resolve(COMMITTED)));
  const clock = { now: () => 0, monotonic: () => time.at } as never;
  const add = batches({ clock, commit, commitSlots: createSemaphore(2) });
  const slow = () => {
    time.at += 50;
    return decideStep();
  };
  for (let id = 0; id < 40; id += 1) add(itemFor(stateOf(id), slow));
  await vi.waitFor(() => expect(begun).toHaveLength(2));
  const before = time.at;
  for (const end of begun) end();
  // All that the ends of the commits have caused but immediates.
  for (let round = 0; round < 100; round += 1) await Promise.resolve();
  expect(time.at).toBe(before);
  await vi.waitFor(() => expect(begun).toHaveLength(4));
  for (const end of begun) end();
});

/** What becomes of an item of deployment 1 that is committed together with one of deployment 2. */
async function outcomeOf(some: Partial<Dependencies>) {
  const calls = { prepareAndQueue: vi.fn(), onLost: vi.fn(), onCommitted: vi.fn(), forget: vi.fn() };
  const states = {
    isCurrent: () => true,
    forget: calls.forget,
    trim: vi.fn(),
    hasGrown: () => false,
  } as never;
  const items = [stateOf(1), stateOf(2)].map((state) => itemFor(state));
  const add = batches({ ...calls, states, ...some });
  for (const item of items) add(item);
  const settled = () =>
    items.filter(({ resolve, reject }) =>
      [resolve, reject].some((one) => vi.mocked(one).mock.calls.length > 0),
    );
  return { ...calls, items, settled };
}
const gone = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
const failing = (error: Error) => ({ commit: () => Promise.reject(error) });

it('a refused batch drops the leases that are lost, no others, and queues every item again', async () => {
  const lost = [{ partition: 2, epoch: 1 }];
  const refused = { commit: () => Promise.resolve({ ...REFUSED, lost }) };
  const { prepareAndQueue, onLost, forget, items, settled } = await outcomeOf(refused);
  await vi.waitFor(() => expect(prepareAndQueue).toHaveBeenCalledTimes(2));
  expect(prepareAndQueue.mock.calls).toEqual(items.map((item) => [item]));
  expect(items.some(({ isolated }) => isolated)).toBe(false);
  expect(onLost.mock.calls).toEqual([[lost]]);
  expect(forget.mock.calls).toEqual([[1], [2]]);
  expect(settled()).toEqual([]);
});

it('no item of a batch without an answer is decided again or refused before there is a proof', async () => {
  let prove: (proof: 'written' | 'unwritten' | 'unclear') => void = () => {};
  const recover = vi.fn(
    () =>
      new Promise<'written' | 'unwritten' | 'unclear'>((resolve) => {
        prove = resolve;
      }),
  );
  const { prepareAndQueue, settled } = await outcomeOf({ ...failing(gone), recover });
  await vi.waitFor(() => expect(recover).toHaveBeenCalledOnce());
  await setImmediate();
  expect([prepareAndQueue.mock.calls, settled()]).toEqual([[], []]);
  prove('unwritten');
  await vi.waitFor(() => expect(prepareAndQueue).toHaveBeenCalledTimes(2));
  expect(settled()).toEqual([]);
});

it.each([
  ['written', async () => 'written' as const, { resolved: 2, rejected: 0, committed: 1 }],
  ['unclear', async () => 'unclear' as const, { resolved: 0, rejected: 2, committed: 0 }],
  [
    'sought when the process stops',
    () => Promise.reject(new Error('stopped')),
    { resolved: 0, rejected: 2, committed: 0 },
  ],
])('a batch that is %s is settled and never decided again', async (_what, recover, expected) => {
  const { prepareAndQueue, onCommitted, items, settled } = await outcomeOf({ ...failing(gone), recover });
  await vi.waitFor(() => expect(settled()).toHaveLength(2));
  const count = (how: 'resolve' | 'reject') =>
    items.flatMap((item) => vi.mocked(item[how]).mock.calls).length;
  const committed = onCommitted.mock.calls.length;
  expect({ resolved: count('resolve'), rejected: count('reject'), committed }).toEqual(expected);
  expect(prepareAndQueue).not.toHaveBeenCalled();
  for (const { reject } of items)
    for (const [error] of vi.mocked(reject).mock.calls)
      expect(error).toMatchObject({ code: 'unavailable', facts: { outcome: 'unknown' } });
});

it('a proof that failed is logged with its reason', async () => {
  const logger = { warn: vi.fn() };
  const reason = new Error('stopped');
  const { settled } = await outcomeOf({
    ...failing(gone),
    recover: () => Promise.reject(reason),
    logger: logger as never,
  });
  await vi.waitFor(() => expect(settled()).toHaveLength(2));
  expect(logger.warn).toHaveBeenCalledWith({ err: reason }, expect.stringContaining('not proven'));
});

it('what fails after a commit decides nothing again', async () => {
  const onCommitted = () => {
    throw new Error('no');
  };
  const { prepareAndQueue, items } = await outcomeOf({ onCommitted });
  await vi.waitFor(() => expect(items[0]?.reject).toHaveBeenCalled());
  expect(prepareAndQueue).not.toHaveBeenCalled();
});

it('an item that breaks a unique constraint by itself is tried a few times, then refused', async () => {
  const violation = Object.assign(new Error('duplicate key'), {
    code: '23505',
    constraint: 'once_keys_pkey',
  });
  const item = itemFor(stateOf(1));
  let add: (queued: QueuedItem) => void = () => {};
  const commit = vi.fn(() => Promise.reject(violation));
  add = batches({ commit, prepareAndQueue: (queued) => add(queued) });
  add(item);
  await vi.waitFor(() =>
    expect(item.reject).toHaveBeenCalledWith(expect.objectContaining({ code: 'internal' })),
  );
  expect(commit).toHaveBeenCalledTimes(4);
});

const answering = () => ({ kind: 'answer', answer: 'read' });

it('memory is trimmed after batches that commit nothing too, but for what items need that are not decided', async () => {
  const trim = vi.fn();
  const states = { isCurrent: () => true, trim, hasGrown: () => false } as never;
  const preparing = new Map([[7, 1]]);
  const add = batches({ states, preparing });
  for (let round = 1; round <= 64; round += 1) {
    expect(trim).not.toHaveBeenCalled();
    add(itemFor(stateOf(1), answering));
    await setImmediate();
  }
  expect(trim.mock.calls).toEqual([[new Set([7])]]);
});

it('memory is trimmed at once after much was loaded into it', async () => {
  const trim = vi.fn();
  const add = batches({ states: { isCurrent: () => true, trim, hasGrown: () => true } as never });
  add(itemFor(stateOf(1), answering));
  await vi.waitFor(() => expect(trim).toHaveBeenCalledOnce());
});
