import { expect, it } from 'vitest';
import { refuseLarge } from './tool-results.js';

it('refuses what is too large for an agent', () => {
  expect(() => refuseLarge('x'.repeat(1024 * 1024))).not.toThrow();
  expect(() => refuseLarge('x'.repeat(1024 * 1024 + 1))).toThrow('more than 1024 KiB');
});
