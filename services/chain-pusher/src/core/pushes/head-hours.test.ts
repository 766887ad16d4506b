import { expect, it } from 'vitest';
import { endOfHour, headId, startOfHour } from './head-hours.js';

it.each([
  ['2026-11-21T09:00:00.000Z', '2026-11-21T09:00:00.000Z', '2026-11-21T10:00:00.000Z'],
  ['2026-11-21T09:59:59.999Z', '2026-11-21T09:00:00.000Z', '2026-11-21T10:00:00.000Z'],
  ['2026-12-31T23:30:00.000Z', '2026-12-31T23:00:00.000Z', '2027-01-01T00:00:00.000Z'],
])('the hour of %s is from %s to %s', (at, start, end) =>
  expect([startOfHour(at), endOfHour(at)]).toEqual([start, end]),
);

it('names a head by a UUID that is always the same', () => {
  const id = headId('0xabc', '2026-11-21T10:00:00.000Z');
  expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/);
  expect(headId('0xabc', '2026-11-21T10:00:00.000Z')).toBe(id);
  expect(headId('0xabc', '2026-11-21T11:00:00.000Z')).not.toBe(id);
  expect(headId('0xabd', '2026-11-21T10:00:00.000Z')).not.toBe(id);
});
