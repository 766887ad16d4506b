import { expect, it } from 'vitest';
import { isMatch, refuseChanged, tagged } from './entity-tag.js';

const world = { id: 1, name: 'Derby', promptSeed: undefined, isPublic: false, updatedAt: '2026-11-26' };

it('is another one once the record is another one, and the same whatever happened beside', () => {
  const { etag } = tagged(world);
  expect(etag).toMatch(/^[0-9a-f]{32}$/);
  expect(tagged({ ...world, isPublic: true, updatedAt: '2026-11-27' }).etag).toBe(etag);
  expect(tagged({ ...world, name: 'Ascot' }).etag).not.toBe(etag);
});

it('lets a change pass that names it, or names none', () => {
  const { etag } = tagged(world);
  for (const given of [undefined, '*', etag, `"${etag}"`, `W/"${etag}"`, `"other", "${etag}"`])
    expect(() => refuseChanged(given, world), String(given)).not.toThrow();
  for (const given of ['"other"', `"${etag}x"`, '""'])
    expect(() => refuseChanged(given, world), given).toThrowError(
      expect.objectContaining({ code: 'revision_mismatch' }),
    );
  expect(isMatch('"3"', '4')).toBe(false);
});
