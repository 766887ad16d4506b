import { expect, it } from 'vitest';
import { createWhileUsed } from './while-used.js';

function setUp() {
  const signals: AbortSignal[] = [];
  const whileUsed = createWhileUsed(async (signal) => void signals.push(signal));
  return { signals, whileUsed };
}

it('starts for the first user, ends after the last, and starts anew for the next', async () => {
  const { signals, whileUsed } = setUp();
  const leave: (() => void)[] = [];
  const users = [1, 2].map(() => whileUsed(() => new Promise<void>((resolve) => leave.push(resolve))));
  await Promise.resolve();
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  leave[0]?.();
  await users[0];
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  leave[1]?.();
  await users[1];
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  expect(await whileUsed(async () => 'work')).toBe('work');
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
});

it('ends after work that failed, and tries to start again after a start that failed', async () => {
  const { signals, whileUsed } = setUp();
  await expect(whileUsed(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  let starts = 0;
  const failing = createWhileUsed(async () => {
    starts += 1;
    if (starts === 1) throw new Error('away');
  });
  await expect(failing(async () => 'work')).rejects.toThrow('away');
  expect(await failing(async () => 'work')).toBe('work');
});
