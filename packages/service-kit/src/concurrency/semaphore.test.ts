import { expect, onTestFinished, test, vi } from 'vitest';
import { createSemaphore } from './bounded-work.js';

const never = new AbortController().signal;
function pending() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}

test('runs as many at once as there are slots, the others in order', async () => {
  const semaphore = createSemaphore(2);
  const works = [pending(), pending(), pending(), pending()];
  const started: number[] = [];
  const done = works.map((work, n) =>
    semaphore.run(never, async () => {
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

test('a failure releases its slot', async () => {
  const semaphore = createSemaphore(1);
  await expect(semaphore.run(never, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await semaphore.run(never, async () => 'yes')).toBe('yes');
});

test('a caller that stops waiting never starts and holds up no other', async () => {
  const semaphore = createSemaphore(1);
  const first = pending();
  const running = semaphore.run(never, () => first.promise);
  const gone = new AbortController();
  const waiting = semaphore.run(gone.signal, async () => 'late');
  const next = semaphore.run(never, async () => 'next');
  gone.abort(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
  await expect(semaphore.run(gone.signal, async () => 'late')).rejects.toThrow('gone');
  first.resolve();
  await running;
  expect(await next).toBe('next');
});

test('waiting for a free slot ends with the next release', async () => {
  const semaphore = createSemaphore(2);
  semaphore.take();
  expect(semaphore.untilFree()).toBeUndefined();
  semaphore.take();
  expect(semaphore.isFull).toBe(true);
  const woken: string[] = [];
  const waiting = semaphore.untilFree()?.then(() => woken.push('woken'));
  await Promise.resolve();
  expect(woken).toEqual([]);
  semaphore.release();
  semaphore.take();
  await waiting;
  expect(woken).toEqual(['woken']);
  expect(semaphore.taken).toBe(2);
});

test('work that finds the queue full is refused at once', async () => {
  const semaphore = createSemaphore(1, { maxWaiting: 1 });
  const first = pending();
  const running = semaphore.run(never, () => first.promise);
  const waiting = semaphore.run(never, async () => 'waited');
  await expect(semaphore.run(never, async () => 'too many')).rejects.toMatchObject({ code: 'overloaded' });
  first.resolve();
  await running;
  expect(await waiting).toBe('waited');
});

test('work that waits too long is refused, never starts and holds up no other', async () => {
  const semaphore = createSemaphore(1, { maxWaitMs: 5 });
  const first = pending();
  const running = semaphore.run(never, () => first.promise);
  const late: string[] = [];
  const waiting = semaphore.run(never, async () => late.push('late'));
  await expect(waiting).rejects.toMatchObject({ code: 'overloaded' });
  const next = semaphore.run(never, async () => 'next');
  first.resolve();
  await running;
  expect(await next).toBe('next');
  expect(late).toEqual([]);
});

test('work that started in time pushes no other out of the queue when its wait would have ended', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const semaphore = createSemaphore(1, { maxWaitMs: 5 });
  const [first, second] = [pending(), pending()];
  const running = semaphore.run(never, () => first.promise);
  const waited = semaphore.run(never, () => second.promise);
  await vi.advanceTimersByTimeAsync(4);
  first.resolve();
  await running;
  const next = semaphore.run(never, async () => 'next');
  await vi.advanceTimersByTimeAsync(2);
  second.resolve();
  await waited;
  expect(await Promise.race([next, vi.advanceTimersByTimeAsync(1).then(() => 'still waiting')])).toBe('next');
});
