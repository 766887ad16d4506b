import { FakeClock } from '@orrery/testing';
import { expect, it, vi } from 'vitest';
import type { QueuedItem } from './queued-item.js';
import { createWaitingItems } from './waiting-items.js';

function setUp() {
  const clock = new FakeClock(0);
  const enter = vi.fn();
  const leaving = new AbortController();
  const item = (deploymentId: number, deadline = 10_000) => ({
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
  return { clock, enter, leaving, item, waiting: createWaitingItems(clock, enter) };
}

it('enters the items of a deployment again, each once', () => {
  const { waiting, enter, item } = setUp();
  const [one, two, other] = [item(1), item(1), item(2)];
  for (const queued of [one, two, other]) waiting.add(queued);
  waiting.release([1, 1]);
  expect(enter.mock.calls).toEqual([[one], [two]]);
  expect(one.rounds).toBe(0);
  waiting.release([1]);
  expect(enter).toHaveBeenCalledTimes(2);
});

it('enters the items of a partition again, for their new owner', () => {
  const { waiting, enter, item } = setUp();
  const [here, there] = [item(64 + 3), item(4)];
  waiting.add(here);
  waiting.add(there);
  waiting.releasePartitions([3]);
  expect(enter.mock.calls).toEqual([[here]]);
});

it('refuses shortly before the deadline, but not items released before', async () => {
  const { waiting, clock, item } = setUp();
  const [late, early] = [item(1), item(2)];
  waiting.add(late);
  waiting.add(early);
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
  waiting.add(queued);
  leaving.abort();
  await clock.advance(0);
  expect(queued.reject).toHaveBeenCalledWith(expect.objectContaining({ code: 'deadline_exceeded' }));
});
