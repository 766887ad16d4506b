import { expect, it } from 'vitest';
import { boundUntaken } from './bounds.js';

const sent = (bytes: number) => ({ bytes: Buffer.alloc(bytes), holders: 0 });

it('cuts who has not taken theirs for the longest time, and no more than is needed', async () => {
  const { hold } = boundUntaken(100);
  const cut: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const holding = (name: string, bytes: number) =>
    hold(
      sent(bytes),
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

it('counts what several share once, and cuts them after who has theirs alone', async () => {
  const { hold } = boundUntaken(100);
  const cut: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const holding = (name: string, what: ReturnType<typeof sent>) =>
    hold(
      what,
      () => void cut.push(name),
      () => promise,
    );
  const shared = sent(60);
  const all = [holding('one', shared), holding('other', shared), holding('alone', sent(40))];
  expect(cut).toEqual([]);
  all.push(holding('next', sent(30)));
  expect(cut).toEqual(['alone']);
  all.push(holding('last', sent(80)));
  expect(cut).toEqual(['alone', 'next', 'one', 'other']);
  resolve();
  await Promise.all(all);
  expect(shared.holders).toBe(0);
});
