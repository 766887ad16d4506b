import { expect, it } from 'vitest';
import { boundUntaken } from './bounds.js';

it('cuts who has not taken theirs for the longest time, and no more than is needed', async () => {
  const { hold } = boundUntaken(100);
  const cut: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const holding = (name: string, bytes: number) =>
    hold(
      bytes,
      () => void cut.push(name),
      () => promise,
    );
  const all = [holding('first', 40), holding('second', 40), holding('third', 50)];
  expect(cut).toEqual(['first']);
  all.push(holding('larger than all', 200));
  expect(cut).toEqual(['first', 'second', 'third']);
  resolve();
  await Promise.all(all);
  // What was taken counts no more.
  await holding('later', 100);
  expect(cut).toHaveLength(3);
});
