import { expect, it, vi } from 'vitest';
import { createWhileUsed } from './watches.js';

/** Records the signal of each start; `use` begins work and returns a function that ends it. */
function setUp(outcome: () => Promise<void> = async () => undefined) {
  const signals: AbortSignal[] = [];
  const onFailed = vi.fn();
  const start = (signal: AbortSignal) => {
    signals.push(signal);
    return outcome();
  };
  const whileUsed = createWhileUsed(start, onFailed);
  const use = () => {
    let leave = () => {};
    const left = whileUsed(() => new Promise<void>((resolve) => (leave = resolve)));
    return () => {
      leave();
      return left;
    };
  };
  return { onFailed, whileUsed, use, ended: () => signals.map(({ aborted }) => aborted) };
}

it('starts for the first user, ends after the last, and starts again for the next', async () => {
  const { use, whileUsed, ended } = setUp();
  const leave = [use(), use()];
  expect(ended()).toEqual([false]);
  await leave[0]?.();
  expect(ended()).toEqual([false]);
  await leave[1]?.();
  expect(ended()).toEqual([true]);
  expect(await whileUsed(async () => 'work')).toBe('work');
  expect(ended()).toEqual([true, true]);
});

it('ends after work that failed', async () => {
  const { whileUsed, ended } = setUp();
  await expect(whileUsed(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(ended()).toEqual([true]);
});

it('does not wait for a start that hangs, and aborts it after the last user', async () => {
  const { whileUsed, use, ended } = setUp(() => new Promise(() => {}));
  const leave = use();
  expect(await whileUsed(async () => 'work')).toBe('work');
  expect(ended()).toEqual([false]);
  await leave();
  expect(ended()).toEqual([true]);
});

it('continues work after a failed start, reports it, and tries again for the next user', async () => {
  const { use, onFailed, ended } = setUp(() => Promise.reject(new Error('away')));
  const first = use();
  await vi.waitFor(() => expect(onFailed).toHaveBeenCalledOnce());
  expect(ended()).toEqual([true]);
  const second = use();
  await vi.waitFor(() => expect(onFailed).toHaveBeenCalledTimes(2));
  expect(ended()).toEqual([true, true]);
  await Promise.all([first(), second()]);
});
