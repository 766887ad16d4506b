import { expect, it } from 'vitest';
import { relativeTime } from './values.js';

it('never shows what has happened as in the future, whatever the clock of the page says', () => {
  expect(relativeTime(3000)).toBe('in 3 seconds');
  expect(relativeTime(3000, true)).toBe('now');
  expect(relativeTime(-120_000, true)).toBe('2 minutes ago');
});
