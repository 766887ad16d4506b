import { expect, it, vi } from 'vitest';
import { createBatcher } from './bounded-work.js';

it('requests that arrive while a call is in flight share the next one', async () => {
  const calls: number[][] = [];
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const batcher = createBatcher<number, number>({
    maxBatch: 10,
    load: async (requests) => {
      calls.push([...requests]);
      if (calls.length === 1) await opened;
      return requests.map((request) => request * 2);
    },
  });
  const one = batcher(1);
  await new Promise(setImmediate);
  const others = [batcher(2), batcher(3)];
  open();
  expect(await Promise.all([one, ...others])).toEqual([2, 4, 6]);
  expect(calls).toEqual([[1], [2, 3]]);
});

it('a failed call fails the requests that shared it and no later one', async () => {
  let calls = 0;
  const batcher = createBatcher<number, number>({
    maxBatch: 2,
    load: async (requests) => {
      calls += 1;
      if (calls === 1) throw new Error('away');
      return [...requests];
    },
  });
  const outcomes = await Promise.allSettled([batcher(1), batcher(2), batcher(3)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
});

it('a call waits until it is ready, and requests that arrive meanwhile share it', async () => {
  const calls: number[][] = [];
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const echo = async (requests: readonly number[]) => {
    calls.push([...requests]);
    return [...requests];
  };
  const batcher = createBatcher<number, number>({ maxBatch: 10, load: echo, ready: () => opened });
  const one = batcher(1);
  await new Promise(setImmediate);
  expect(calls).toEqual([]);
  const two = batcher(2);
  open();
  expect(await Promise.all([one, two])).toEqual([1, 2]);
  expect(calls).toEqual([[1, 2]]);
});

it('equal requests that wait share one result', async () => {
  const calls: string[][] = [];
  const batcher = createBatcher<string, string>({
    maxBatch: 3,
    load: async (ids) => {
      calls.push([...ids]);
      return ids.map((id) => id.toUpperCase());
    },
    keyOf: (id) => id.toLowerCase(),
  });
  expect(await Promise.all(['a', 'b', 'A'].map(batcher))).toEqual(['A', 'B', 'A']);
  expect(calls).toEqual([['a', 'b']]);
});

it('cuts large batches', async () => {
  const sizes: number[] = [];
  const batcher = createBatcher<number, undefined>({
    maxBatch: 3,
    load: async (requests) => {
      sizes.push(requests.length);
      return requests.map(() => undefined);
    },
  });
  await Promise.all([1, 2, 3, 4].map(batcher));
  expect(sizes).toEqual([3, 1]);
});

it('refuses more distinct requests than may wait', async () => {
  const batcher = createBatcher<string, string>({
    maxBatch: 3,
    load: async (ids) => ids,
    maxWaiting: 2,
  });
  const taken = ['a', 'b', 'a'].map(batcher);
  await expect(batcher('c')).rejects.toMatchObject({ code: 'overloaded' });
  expect(await Promise.all(taken)).toEqual(['a', 'b', 'a']);
});

it('begins another call beside one that is overdue, and no more than eight', async () => {
  const ends: (() => void)[] = [];
  const batcher = createBatcher<number, number>({
    maxBatch: 1,
    overdueMs: 1,
    load: async (requests) => {
      if (requests[0] !== 8) await new Promise<void>((resolve) => ends.push(resolve));
      return requests;
    },
  });
  const slow = Array.from({ length: 8 }, (_, at) => batcher(at));
  const quick = batcher(8);
  await vi.waitFor(() => expect(ends).toHaveLength(8));
  ends.at(-1)?.();
  expect(await quick).toBe(8);
  for (const end of ends) end();
  expect(await Promise.all(slow)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});
