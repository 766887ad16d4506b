import { expect, it } from 'vitest';
import { createBatcher } from './batcher.js';

it('what is asked while a call is under way shares the next one', async () => {
  const calls: number[][] = [];
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const batcher = createBatcher<number, number>(10, async (questions) => {
    calls.push([...questions]);
    if (calls.length === 1) await opened;
    return questions.map((question) => question * 2);
  });
  const one = batcher(1);
  await new Promise(setImmediate);
  const others = [batcher(2), batcher(3)];
  open();
  expect(await Promise.all([one, ...others])).toEqual([2, 4, 6]);
  expect(calls).toEqual([[1], [2, 3]]);
});

it('a call that fails fails those who shared it, and no one after', async () => {
  let calls = 0;
  const batcher = createBatcher<number, number>(2, async (questions) => {
    calls += 1;
    if (calls === 1) throw new Error('away');
    return [...questions];
  });
  const outcomes = await Promise.allSettled([batcher(1), batcher(2), batcher(3)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
});

it('a call waits until it is ready to be made, and who asks meanwhile shares it', async () => {
  const calls: number[][] = [];
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const echo = async (questions: readonly number[]) => {
    calls.push([...questions]);
    return [...questions];
  };
  const batcher = createBatcher<number, number>(10, echo, () => opened);
  const one = batcher(1);
  await new Promise(setImmediate);
  expect(calls).toEqual([]);
  const two = batcher(2);
  open();
  expect(await Promise.all([one, two])).toEqual([1, 2]);
  expect(calls).toEqual([[1, 2]]);
});
