import { expect, it } from 'vitest';
import { timeIn, timeText } from './zone.js';

it('a time is shown by the clock that was chosen, and read by it again', () => {
  const at = new Date('2026-11-22T17:05:09Z');
  expect(timeText(at, 'utc')).toBe('2026-11-22 17:05:09Z');
  expect(timeIn('2026-11-22T17:05:09', 'utc')).toEqual(at);
  const here = timeText(at, 'local');
  expect(here).toMatch(/^2026-11-2[123] \d\d:\d\d:09$/);
  expect(timeIn(here.replace(' ', 'T'), 'local')).toEqual(at);
});
