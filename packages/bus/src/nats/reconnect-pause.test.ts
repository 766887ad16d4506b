import { expect, it } from 'vitest';
import { reconnectPause } from './reconnect-pause.js';

const AT_ONCE = Number.NEGATIVE_INFINITY;

it('a try is due once the pause has passed, and none before', () => {
  let now = 0;
  const pause = reconnectPause(100, () => now);
  expect(pause()).toBe(AT_ONCE);
  now = 99;
  const left = pause();
  expect(left).toBeGreaterThanOrEqual(100);
  expect(left).toBeLessThan(150);
  now = 150;
  expect(pause()).toBe(AT_ONCE);
  expect(pause()).toBeGreaterThanOrEqual(100);
});
