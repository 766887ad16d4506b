import { expect, it } from 'vitest';
import { createCommitPlaces } from './commit-places.js';

it('lets wait while all places are taken, and only for the next commit to end', async () => {
  const places = createCommitPlaces(2);
  places.take();
  expect(places.roomAhead()).toBeUndefined();
  places.take();
  expect(places.isFull).toBe(true);
  const woken: string[] = [];
  const waiting = places.roomAhead()?.then(() => woken.push('woken'));
  await Promise.resolve();
  expect(woken).toEqual([]);
  places.giveBack();
  places.take();
  await waiting;
  expect(woken).toEqual(['woken']);
  expect(places.taken).toBe(2);
});
