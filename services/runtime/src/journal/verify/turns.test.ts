import { expect, test } from 'vitest';
import { createTurns } from './turns.js';

const never = new AbortController().signal;
function pending() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}

test('so many at a time, the others in order', async () => {
  const turns = createTurns(2);
  const works = [pending(), pending(), pending(), pending()];
  const started: number[] = [];
  const done = works.map((work, n) =>
    turns.take(never, async () => {
      started.push(n);
      await work.promise;
    }),
  );
  await Promise.resolve();
  expect(started).toEqual([0, 1]);
  works[1]?.resolve();
  await done[1];
  await Promise.resolve();
  expect(started).toEqual([0, 1, 2]);
  for (const work of works) work.resolve();
  await Promise.all(done);
  expect(started).toEqual([0, 1, 2, 3]);
});

test('a failure gives its turn on', async () => {
  const turns = createTurns(1);
  await expect(turns.take(never, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await turns.take(never, async () => 'yes')).toBe('yes');
});

test('whoever stops waiting never starts, and is in nobody’s way', async () => {
  const turns = createTurns(1);
  const first = pending();
  const running = turns.take(never, () => first.promise);
  const gone = new AbortController();
  const waiting = turns.take(gone.signal, async () => 'late');
  const next = turns.take(never, async () => 'next');
  gone.abort(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
  await expect(turns.take(gone.signal, async () => 'late')).rejects.toThrow('gone');
  first.resolve();
  await running;
  expect(await next).toBe('next');
});
