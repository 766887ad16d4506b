import { expect, it } from 'vitest';
import { WorkSlots } from './in-flight.js';

it('counts what is under way and waits until half is free, or all', async () => {
  const slots = new WorkSlots(4);
  const ends: (() => void)[] = [];
  const work = () => slots.take(new Promise<void>((resolve) => ends.push(resolve)));
  for (let n = 0; n < 4; n += 1) work();
  expect(slots.free).toBe(0);
  const events: string[] = [];
  const half = slots.untilHalfFree().then(() => events.push(`half ${slots.free}`));
  const empty = slots.untilEmpty().then(() => events.push(`empty ${slots.free}`));
  ends[0]?.();
  ends[1]?.();
  await half;
  ends[2]?.();
  ends[3]?.();
  await empty;
  expect(events).toEqual(['half 2', 'empty 4']);
});
