import { expect, it } from 'vitest';
import { createHeldPartitions, PARTITIONS, takingOrder } from './leases.js';

function watched() {
  const over: number[] = [];
  const gone: number[] = [];
  const held = createHeldPartitions({
    onEpochOver: (one) => over.push(one),
    onGone: (one) => gone.push(one),
    onTaken: () => undefined,
  });
  return { held, over, gone };
}

it('what was raised meanwhile is not dropped for the epoch that is over', () => {
  const { held, over, gone } = watched();
  held.hold([{ partition: 3, epoch: 5 }]);
  held.hold([{ partition: 3, epoch: 6 }]);
  expect([over, gone]).toEqual([[3], []]);
  held.dropLost([{ partition: 3, epoch: 5 }]);
  expect(held.epochOf(3)).toBe(6);
  held.dropLost([{ partition: 3, epoch: 6 }]);
  expect(held.epochOf(3)).toBeUndefined();
  expect([over, gone]).toEqual([[3, 3], [3]]);
});

it('an answer that comes late takes no epoch back', () => {
  const { held, over } = watched();
  held.hold([{ partition: 3, epoch: 6 }]);
  held.hold([{ partition: 3, epoch: 5 }]);
  expect(held.epochOf(3)).toBe(6);
  expect(over).toEqual([]);
});

it('a partition that is being handed over stays so under a new epoch, until it is taken again', () => {
  const { held } = watched();
  held.hold([{ partition: 3, epoch: 5 }]);
  held.drain([3]);
  held.hold([{ partition: 3, epoch: 6 }]);
  expect(held.epochOf(3)).toBeUndefined();
  expect(held.all()).toEqual([{ partition: 3, epoch: 6 }]);
  held.drop([3]);
  held.hold([{ partition: 3, epoch: 7 }]);
  expect(held.epochOf(3)).toBe(7);
});

it('partitions are taken in an order that spreads neighbours', () => {
  const order = Array.from({ length: PARTITIONS }, (_, partition) => partition).sort(
    (a, b) => takingOrder(a) - takingOrder(b),
  );
  expect(order.slice(0, 8)).toEqual([0, 32, 16, 48, 8, 40, 24, 56]);
  expect(order.slice(0, 32).every((partition) => partition % 2 === 0)).toBe(true);
  expect(new Set(order).size).toBe(PARTITIONS);
});
