import { FakeClock } from '@orrery/testing';
import { expect, it, vi } from 'vitest';
import { createBlockedItems } from './blocked-items.js';
import type { QueuedItem } from './queued-item.js';

function setUp() {
  const clock = new FakeClock(0);
  const enter = vi.fn();
  const leaving = new AbortController();
  const item = (deploymentId: number, deadline = 10_000) => ({
    item: { deploymentId, deadline, signal: leaving.signal } as unknown as QueuedItem['item'],
    resolve: vi.fn(),
    reject: vi.fn(),
    needs: undefined,
    state: undefined,
    alone: false,
    rounds: 40,
  });
  return { clock, enter, leaving, item, blocked: createBlockedItems(clock, enter) };
}

it('lets the items of a deployment try again, each once', () => {
  const { blocked, enter, item } = setUp();
  const [one, two, other] = [item(1), item(1), item(2)];
  for (const queued of [one, two, other]) blocked.park(queued);
  blocked.release([1, 1]);
  expect(enter.mock.calls).toEqual([[one], [two]]);
  expect(one.rounds).toBe(0);
  blocked.release([1]);
  expect(enter).toHaveBeenCalledTimes(2);
});

it('lets the items of a partition find their new owner', () => {
  const { blocked, enter, item } = setUp();
  const [here, there] = [item(64 + 3), item(4)];
  blocked.park(here);
  blocked.park(there);
  blocked.releasePartitions([3]);
  expect(enter.mock.calls).toEqual([[here]]);
});

it('refuses shortly before the deadline, and not what was let go before', async () => {
  const { blocked, clock, item } = setUp();
  const [late, early] = [item(1), item(2)];
  blocked.park(late);
  blocked.park(early);
  blocked.release([2]);
  await clock.advance(9_749);
  expect(late.reject).not.toHaveBeenCalled();
  await clock.advance(1);
  expect(late.reject).toHaveBeenCalledWith(expect.objectContaining({ code: 'write_conflict' }));
  await clock.advance(10_000);
  expect(early.reject).not.toHaveBeenCalled();
});

it('drops an item whose caller went away', async () => {
  const { blocked, clock, leaving, item } = setUp();
  const queued = item(1);
  blocked.park(queued);
  leaving.abort();
  await clock.advance(0);
  expect(queued.reject).toHaveBeenCalledWith(expect.objectContaining({ code: 'deadline_exceeded' }));
});
