import { expect, it } from 'vitest';
import { createHeldPartitions } from './partitions.js';

function watched() {
  const dropped: number[] = [];
  const held = createHeldPartitions({ onDropped: (one) => dropped.push(one), onTaken: () => undefined });
  return { held, dropped };
}

it('what was raised meanwhile is not dropped for the epoch that is over', () => {
  const { held, dropped } = watched();
  held.hold([{ partition: 3, epoch: 5 }]);
  held.hold([{ partition: 3, epoch: 6 }]);
  expect(dropped).toEqual([3]);
  held.dropLost([{ partition: 3, epoch: 5 }]);
  expect(held.epochOf(3)).toBe(6);
  held.dropLost([{ partition: 3, epoch: 6 }]);
  expect(held.epochOf(3)).toBeUndefined();
});

it('an answer that comes late takes no epoch back', () => {
  const { held, dropped } = watched();
  held.hold([{ partition: 3, epoch: 6 }]);
  held.hold([{ partition: 3, epoch: 5 }]);
  expect(held.epochOf(3)).toBe(6);
  expect(dropped).toEqual([]);
});
