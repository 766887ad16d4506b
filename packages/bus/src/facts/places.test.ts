import { expect, it } from 'vitest';
import { createPlaces } from './places.js';

it('counts what is under way and waits until half is free, or all', async () => {
  const places = createPlaces(4);
  const ends: (() => void)[] = [];
  const work = () => places.take(new Promise<void>((resolve) => ends.push(resolve)));
  for (let n = 0; n < 4; n += 1) work();
  expect(places.free).toBe(0);
  const events: string[] = [];
  const half = places.untilHalfFree().then(() => events.push(`half ${places.free}`));
  const empty = places.untilEmpty().then(() => events.push(`empty ${places.free}`));
  ends[0]?.();
  ends[1]?.();
  await half;
  ends[2]?.();
  ends[3]?.();
  await empty;
  expect(events).toEqual(['half 2', 'empty 4']);
});
