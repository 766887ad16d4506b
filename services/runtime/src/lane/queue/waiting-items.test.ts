import { FakeClock } from '@orrery/testing';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { WHAT_RUNS } from '../../store/state/deployment-state.js';
import type { QueuedItem } from './queued-items.js';
import { createWaitingItems } from './queued-items.js';

const HERE = { name: 'instance horse:H1', toHold: false };
const TO_HOLD = { ...HERE, toHold: true };

function setUp() {
  const clock = new FakeClock(0);
  const prepareAndQueue = vi.fn();
  const held = new Set<string>();
  const leaving = new AbortController();
  const item = (deploymentId = 1, deadline = 10_000) => ({
    item: { deploymentId, deadline, signal: leaving.signal } as unknown as QueuedItem['item'],
    resolve: vi.fn(),
    reject: vi.fn(),
    trace: undefined,
    stage: 'undecided' as const,
    needs: undefined,
    state: undefined,
    isolated: false,
    violations: 0,
    preparations: 40,
  });
  const waiting = createWaitingItems(clock, prepareAndQueue, (_deployment, name) => held.has(name));
  return { clock, prepareAndQueue, held, leaving, item, waiting };
}

describe('a release', () => {
  it('queues all items that only pass, each once', () => {
    const { waiting, prepareAndQueue, item } = setUp();
    const [one, two, other] = [item(), item(), item(2)];
    for (const queued of [one, two, other]) waiting.wait(queued, HERE);
    waiting.release([1, 1]);
    expect(prepareAndQueue.mock.calls).toEqual([[one], [two]]);
    expect(one.preparations).toBe(0);
    waiting.release([1]);
    expect(prepareAndQueue).toHaveBeenCalledTimes(2);
  });

  it('queues one item that is going to hold, and the next when that one does not', () => {
    const { waiting, prepareAndQueue, held, item } = setUp();
    const [passing, first, second, third] = [item(), item(), item(), item()];
    waiting.wait(passing, HERE);
    for (const queued of [first, second, third]) waiting.wait(queued, TO_HOLD);
    waiting.release([1]);
    waiting.release([1]);
    expect(prepareAndQueue.mock.calls).toEqual([[passing], [first]]);
    waiting.settled(first);
    expect(prepareAndQueue).toHaveBeenLastCalledWith(second);
    held.add(HERE.name);
    waiting.settled(second);
    expect(prepareAndQueue).toHaveBeenCalledTimes(3);
    held.clear();
    waiting.release([1]);
    expect(prepareAndQueue).toHaveBeenLastCalledWith(third);
  });

  it('queues no item that waits for what is still held', () => {
    const { waiting, prepareAndQueue, held, item } = setUp();
    held.add(HERE.name);
    waiting.wait(item(), HERE);
    waiting.wait(item(), { name: 'schema horse', toHold: true });
    waiting.release([1]);
    expect(prepareAndQueue).toHaveBeenCalledTimes(1);
  });
});

it('an item is awaited from its first wait until it is settled, and what waits behind it then has its turn', () => {
  const { waiting, prepareAndQueue, held, item } = setUp();
  const behind = { name: 'turn', toHold: false };
  const [one, two, run] = [item(), item(), item()];
  waiting.wait(one, HERE);
  waiting.wait(two, HERE);
  held.add('turn');
  waiting.wait(run, behind);
  expect([waiting.isAwaited(1, HERE.name), waiting.isAwaited(2, HERE.name)]).toEqual([true, false]);
  waiting.release([1]);
  expect(prepareAndQueue.mock.calls).toEqual([[one], [two]]);
  expect(waiting.isAwaited(1, HERE.name)).toBe(true);
  waiting.wait(one, HERE);
  waiting.settled(two);
  expect(waiting.isAwaited(1, HERE.name)).toBe(true);
  waiting.release([1]);
  held.delete('turn');
  waiting.settled(one);
  expect(waiting.isAwaited(1, HERE.name)).toBe(false);
  expect(prepareAndQueue).toHaveBeenLastCalledWith(run);
});

it('an item that has to wait again waits at its old position', () => {
  const { waiting, prepareAndQueue, held, item } = setUp();
  const [first, second] = [item(), item()];
  waiting.wait(first, TO_HOLD);
  waiting.wait(second, TO_HOLD);
  waiting.release([1]);
  held.add(HERE.name);
  waiting.wait(first, TO_HOLD);
  held.clear();
  waiting.release([1]);
  expect(prepareAndQueue.mock.calls).toEqual([[first], [first]]);
});

it('queues the items of a partition again, for their new owner', () => {
  const { waiting, prepareAndQueue, held, item } = setUp();
  held.add(HERE.name);
  const [here, there] = [item(64 + 3), item(4)];
  waiting.wait(here, HERE);
  waiting.wait(there, HERE);
  waiting.releasePartitions([3]);
  expect(prepareAndQueue.mock.calls).toEqual([[here]]);
});

it('refuses shortly before the deadline, but not items released before', async () => {
  const { waiting, clock, item } = setUp();
  const [late, early] = [item(1), item(2)];
  waiting.wait(late, HERE);
  waiting.wait(early, HERE);
  waiting.release([2]);
  await clock.advance(9_749);
  expect(late.reject).not.toHaveBeenCalled();
  await clock.advance(1);
  expect(late.reject).toHaveBeenCalledWith(expect.objectContaining({ code: 'write_conflict' }));
  await clock.advance(10_000);
  expect(early.reject).not.toHaveBeenCalled();
});

it.each([
  [WHAT_RUNS, 'A payment is being settled: try again.'],
  [HERE.name, 'The instances are held by another run.'],
])('says what still held an item that waited for "%s"', async (name, message) => {
  const { waiting, clock, item } = setUp();
  const late = item();
  waiting.wait(late, { name, toHold: false });
  await clock.advance(10_000);
  expect(late.reject).toHaveBeenCalledWith(expect.objectContaining({ code: 'write_conflict', message }));
});

it('drops an item whose caller went away', async () => {
  const { waiting, clock, leaving, item } = setUp();
  const queued = item(1);
  waiting.wait(queued, HERE);
  leaving.abort();
  await clock.advance(0);
  expect(queued.reject).toHaveBeenCalledWith(expect.objectContaining({ code: 'deadline_exceeded' }));
});

/**
 * A lane in small: items want names, wait for the first that another one holds, and hold all of them (or pass) when none
 * is held. Items leave in every way in which real ones do.
 */
function lane() {
  const clock = new FakeClock(0);
  const held = new Map<string, QueuedItem>();
  const queue: QueuedItem[] = [];
  const waitingFor = new Map<QueuedItem, string>();
  const wants = new Map<QueuedItem, { names: string[]; toHold: boolean }>();
  const callers = new Map<QueuedItem, AbortController>();
  let timesQueued = 0;
  const prepareAndQueue = (queued: QueuedItem) => {
    timesQueued += 1;
    waitingFor.delete(queued);
    queue.push(queued);
  };
  const waiting = createWaitingItems(clock, prepareAndQueue, (_deployment, name) => held.has(name));
  const leave = (queued: QueuedItem) => {
    waitingFor.delete(queued);
    waiting.settled(queued);
  };
  const at = <T>(all: readonly T[], index: number): T | undefined => all[index % Math.max(1, all.length)];
  return {
    /** Items that are never queued again: no item is left to decide, and what they wait for is free. */
    lost: () => (queue.length > 0 ? [] : [...waitingFor.values()].filter((name) => !held.has(name))),
    waitingFor,
    queue,
    held,
    timesQueued: () => timesQueued,
    submit: (names: string[], toHold: boolean) => {
      const caller = new AbortController();
      const queued = {
        item: { deploymentId: 1, deadline: 1e9, signal: caller.signal },
        reject: () => leave(queued),
      } as unknown as QueuedItem;
      callers.set(queued, caller);
      wants.set(queued, { names, toHold });
      prepareAndQueue(queued);
    },
    decide: (index: number) => {
      const queued = at(queue, index);
      const wanted = queued && wants.get(queued);
      if (queued === undefined || wanted === undefined) return;
      queue.splice(queue.indexOf(queued), 1);
      const name = wanted.names.find((one) => held.has(one));
      if (name !== undefined) {
        waitingFor.set(queued, name);
        return waiting.wait(queued, { name, toHold: wanted.toHold });
      }
      if (wanted.toHold) for (const one of wanted.names) held.set(one, queued);
      leave(queued);
    },
    /** Refused, or its deadline has passed. */
    drop: (index: number) => {
      const queued = at(queue, index);
      if (queued === undefined) return;
      queue.splice(queue.indexOf(queued), 1);
      leave(queued);
    },
    dropAll: () => {
      while (queue.length > 0) leave(queue.splice(0, 1)[0] as QueuedItem);
    },
    abort: async (index: number) => {
      const queued = at([...waitingFor.keys()], index);
      callers.get(queued as QueuedItem)?.abort();
      await clock.advance(0);
    },
    end: (index: number) => {
      const holder = at([...new Set(held.values())], index);
      if (holder === undefined) return;
      for (const [name, by] of [...held]) if (by === holder) held.delete(name);
      waiting.release([1]);
    },
  };
}

type Step =
  | { kind: 'submit'; names: string[]; toHold: boolean }
  | { kind: 'decide' | 'drop' | 'dropAll' | 'abort' | 'end'; index: number };

const one = <K extends Step['kind']>(kind: K, weight: number) => ({
  weight,
  arbitrary: fc.record({ kind: fc.constant(kind), index: fc.nat(9) }) as fc.Arbitrary<Step>,
});

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('submit' as const),
      names: fc.uniqueArray(fc.constantFrom('a', 'b'), { minLength: 1 }),
      toHold: fc.boolean(),
    }),
  },
  one('decide', 5),
  one('end', 3),
  one('drop', 2),
  one('dropAll', 1),
  one('abort', 1),
);

it('no waiting item is lost, whatever becomes of those before it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
      const { waitingFor, queue, held, ...small } = lane();
      for (const next of steps) {
        if (next.kind === 'submit') small.submit(next.names, next.toHold);
        else await small[next.kind](next.index);
        expect(small.lost()).toEqual([]);
      }
      for (let round = 0; round < 1000 && queue.length + held.size > 0; round += 1) {
        while (queue.length > 0) small.decide(0);
        small.end(0);
      }
      expect([waitingFor.size, queue.length, held.size]).toEqual([0, 0, 0]);
    }),
    { numRuns: 300 },
  );
});

it('each release queues a few items, however many wait', () => {
  const { waitingFor, queue, held, ...small } = lane();
  for (let count = 0; count < 200; count += 1) small.submit(['a'], true);
  while (queue.length > 0) small.decide(0);
  expect(waitingFor.size).toBe(199);
  for (let ended = 0; ended < 200; ended += 1) {
    small.end(0);
    while (queue.length > 0) small.decide(0);
  }
  expect([waitingFor.size, held.size, small.timesQueued()]).toEqual([0, 0, 399]);
});
