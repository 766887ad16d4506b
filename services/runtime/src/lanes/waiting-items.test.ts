import { FakeClock } from '@orrery/testing';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { QueuedItem } from './queued-item.js';
import { createWaitingItems } from './waiting-items.js';

const HERE = { name: 'instance horse:H1', toHold: false };
const TO_HOLD = { ...HERE, toHold: true };

function setUp() {
  const clock = new FakeClock(0);
  const enter = vi.fn();
  const held = new Set<string>();
  const leaving = new AbortController();
  const item = (deploymentId = 1, deadline = 10_000) => ({
    item: { deploymentId, deadline, signal: leaving.signal } as unknown as QueuedItem['item'],
    resolve: vi.fn(),
    reject: vi.fn(),
    stage: 'undecided' as const,
    needs: undefined,
    state: undefined,
    isolated: false,
    violations: 0,
    rounds: 40,
  });
  const waiting = createWaitingItems(clock, enter, (_deployment, name) => held.has(name));
  return { clock, enter, held, leaving, item, waiting };
}

describe('a release', () => {
  it('enters all items that only pass, each once', () => {
    const { waiting, enter, item } = setUp();
    const [one, two, other] = [item(), item(), item(2)];
    for (const queued of [one, two, other]) waiting.add(queued, HERE);
    waiting.release([1, 1]);
    expect(enter.mock.calls).toEqual([[one], [two]]);
    expect(one.rounds).toBe(0);
    waiting.release([1]);
    expect(enter).toHaveBeenCalledTimes(2);
  });

  it('enters one item that is going to hold, and the next when that one does not', () => {
    const { waiting, enter, held, item } = setUp();
    const [passing, first, second, third] = [item(), item(), item(), item()];
    waiting.add(passing, HERE);
    for (const queued of [first, second, third]) waiting.add(queued, TO_HOLD);
    waiting.release([1]);
    waiting.release([1]);
    expect(enter.mock.calls).toEqual([[passing], [first]]);
    waiting.settled(first);
    expect(enter).toHaveBeenLastCalledWith(second);
    held.add(HERE.name);
    waiting.settled(second);
    expect(enter).toHaveBeenCalledTimes(3);
    held.clear();
    waiting.release([1]);
    expect(enter).toHaveBeenLastCalledWith(third);
  });

  it('enters nobody for what is still held', () => {
    const { waiting, enter, held, item } = setUp();
    held.add(HERE.name);
    waiting.add(item(), HERE);
    waiting.add(item(), { name: 'schema horse', toHold: true });
    waiting.release([1]);
    expect(enter).toHaveBeenCalledTimes(1);
  });
});

it('an item that has to wait again waits at its old position', () => {
  const { waiting, enter, held, item } = setUp();
  const [first, second] = [item(), item()];
  waiting.add(first, TO_HOLD);
  waiting.add(second, TO_HOLD);
  waiting.release([1]);
  held.add(HERE.name);
  waiting.add(first, TO_HOLD);
  held.clear();
  waiting.release([1]);
  expect(enter.mock.calls).toEqual([[first], [first]]);
});

it('enters the items of a partition again, for their new owner', () => {
  const { waiting, enter, held, item } = setUp();
  held.add(HERE.name);
  const [here, there] = [item(64 + 3), item(4)];
  waiting.add(here, HERE);
  waiting.add(there, HERE);
  waiting.releasePartitions([3]);
  expect(enter.mock.calls).toEqual([[here]]);
});

it('refuses shortly before the deadline, but not items released before', async () => {
  const { waiting, clock, item } = setUp();
  const [late, early] = [item(1), item(2)];
  waiting.add(late, HERE);
  waiting.add(early, HERE);
  waiting.release([2]);
  await clock.advance(9_749);
  expect(late.reject).not.toHaveBeenCalled();
  await clock.advance(1);
  expect(late.reject).toHaveBeenCalledWith(expect.objectContaining({ code: 'write_conflict' }));
  await clock.advance(10_000);
  expect(early.reject).not.toHaveBeenCalled();
});

it('drops an item whose caller went away', async () => {
  const { waiting, clock, leaving, item } = setUp();
  const queued = item(1);
  waiting.add(queued, HERE);
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
  const entered: QueuedItem[] = [];
  const parked = new Map<QueuedItem, string>();
  const wants = new Map<QueuedItem, { names: string[]; toHold: boolean }>();
  const callers = new Map<QueuedItem, AbortController>();
  let entries = 0;
  const enter = (queued: QueuedItem) => {
    entries += 1;
    parked.delete(queued);
    entered.push(queued);
  };
  const waiting = createWaitingItems(clock, enter, (_deployment, name) => held.has(name));
  const leave = (queued: QueuedItem) => {
    parked.delete(queued);
    waiting.settled(queued);
  };
  const at = <T>(all: readonly T[], index: number): T | undefined => all[index % Math.max(1, all.length)];
  return {
    /** Items that nobody will ever enter: all is quiet, and nobody holds what they wait for. */
    lost: () => (entered.length > 0 ? [] : [...parked.values()].filter((name) => !held.has(name))),
    parked,
    entered,
    held,
    entries: () => entries,
    submit: (names: string[], toHold: boolean) => {
      const caller = new AbortController();
      const queued = {
        item: { deploymentId: 1, deadline: 1e9, signal: caller.signal },
        reject: () => leave(queued),
      } as unknown as QueuedItem;
      callers.set(queued, caller);
      wants.set(queued, { names, toHold });
      enter(queued);
    },
    decide: (index: number) => {
      const queued = at(entered, index);
      const wanted = queued && wants.get(queued);
      if (queued === undefined || wanted === undefined) return;
      entered.splice(entered.indexOf(queued), 1);
      const name = wanted.names.find((one) => held.has(one));
      if (name !== undefined) {
        parked.set(queued, name);
        return waiting.add(queued, { name, toHold: wanted.toHold });
      }
      if (wanted.toHold) for (const one of wanted.names) held.set(one, queued);
      leave(queued);
    },
    /** Refused, or its deadline has passed. */
    drop: (index: number) => {
      const queued = at(entered, index);
      if (queued === undefined) return;
      entered.splice(entered.indexOf(queued), 1);
      leave(queued);
    },
    dropAll: () => {
      while (entered.length > 0) leave(entered.splice(0, 1)[0] as QueuedItem);
    },
    abort: async (index: number) => {
      const queued = at([...parked.keys()], index);
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
      const { parked, entered, held, ...small } = lane();
      for (const next of steps) {
        if (next.kind === 'submit') small.submit(next.names, next.toHold);
        else await small[next.kind](next.index);
        expect(small.lost()).toEqual([]);
      }
      for (let round = 0; round < 1000 && entered.length + held.size > 0; round += 1) {
        while (entered.length > 0) small.decide(0);
        small.end(0);
      }
      expect([parked.size, entered.length, held.size]).toEqual([0, 0, 0]);
    }),
    { numRuns: 300 },
  );
});

it('each release enters a few items, however many wait', () => {
  const { parked, entered, held, ...small } = lane();
  for (let count = 0; count < 200; count += 1) small.submit(['a'], true);
  while (entered.length > 0) small.decide(0);
  expect(parked.size).toBe(199);
  for (let ended = 0; ended < 200; ended += 1) {
    small.end(0);
    while (entered.length > 0) small.decide(0);
  }
  expect([parked.size, held.size, small.entries()]).toEqual([0, 0, 399]);
});
