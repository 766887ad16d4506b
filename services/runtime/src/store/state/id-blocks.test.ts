import { expect, it } from 'vitest';
import { createIdBlocks, IDS_PER_BLOCK } from './id-blocks.js';

/** Numbers blocks at once, but answers only when it is told to. */
function heldBackSource() {
  const answers: (() => void)[] = [];
  const nextBlock = () => {
    const block = answers.length + 1;
    return new Promise<number>((resolve) => answers.push(() => resolve(block)));
  };
  const answer = async (index: number) => {
    answers[index]?.();
    await new Promise(setImmediate);
  };
  return { asked: () => answers.length, answer, nextBlock };
}

const firstOf = (block: number) => (block - 1) * IDS_PER_BLOCK + 1;

it('ids rise, also when answers would overtake each other', async () => {
  const { nextBlock, answer } = heldBackSource();
  const ids = createIdBlocks(nextBlock);
  const taken: number[] = [];
  const taking = [0, 1].map(async () => taken.push(...(await ids.take(IDS_PER_BLOCK))));
  for (const index of [1, 0, 1]) await answer(index);
  await Promise.all(taking);
  expect(taken).toEqual(taken.toSorted((one, other) => one - other));
  expect(new Set(taken).size).toBe(2 * IDS_PER_BLOCK);
});

it('who needs ids while a block is asked for waits for that one', async () => {
  const { nextBlock, answer, asked } = heldBackSource();
  const ids = createIdBlocks(nextBlock);
  const taking = [ids.take(2), ids.take(1), ids.refill(1)];
  await answer(0);
  expect(await Promise.all(taking)).toEqual([[1, 2], [3], undefined]);
  expect(asked()).toBe(1);
});

it('who needs more than the block that was under way asks again', async () => {
  const { nextBlock, answer } = heldBackSource();
  const ids = createIdBlocks(nextBlock);
  const refills = Promise.all([ids.refill(1), ids.refill(IDS_PER_BLOCK + 1)]);
  await answer(0);
  await answer(1);
  await refills;
  expect(ids.has(2 * IDS_PER_BLOCK)).toBe(true);
  expect(ids.next()).toBe(1);
});

it('a block that was asked for before ids were discarded is dropped', async () => {
  const { nextBlock, answer } = heldBackSource();
  const ids = createIdBlocks(nextBlock);
  const taking = ids.take(1);
  ids.discard();
  await answer(0);
  expect(ids.has(1)).toBe(false);
  await answer(1);
  expect(await taking).toEqual([firstOf(2)]);
});

it('ids go beyond one that came from another block, also those of a block that was asked for before', async () => {
  const { nextBlock, answer } = heldBackSource();
  const ids = createIdBlocks(nextBlock);
  const taking = ids.take(1);
  await answer(0);
  expect(await taking).toEqual([1]);
  ids.goBeyond(10);
  expect(ids.next()).toBe(11);
  const refilling = ids.refill(IDS_PER_BLOCK);
  ids.goBeyond(firstOf(2) + 5);
  expect(ids.has(1)).toBe(false);
  await answer(1);
  await answer(2);
  await refilling;
  expect(await ids.take(1)).toEqual([firstOf(3)]);
});

it('a source that fails fails those who wait for it, and no one after', async () => {
  let calls = 0;
  const ids = createIdBlocks(async () => {
    calls += 1;
    if (calls === 1) throw new Error('away');
    return calls;
  });
  const outcomes = await Promise.allSettled([ids.refill(1), ids.take(1)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await ids.take(1)).toEqual([firstOf(2)]);
});

it('ids rise also when the sequence goes back, as after a restore', async () => {
  const blocks = [5, 3, 4, 5, 6];
  const ids = createIdBlocks(async () => blocks.shift() ?? 0);
  await ids.take(1);
  ids.discard();
  expect(await ids.take(1)).toEqual([firstOf(6)]);
});
