import type { Clock } from '@orrery/service-kit';
import type { OutsideWork } from './outside-work.js';
import { takingOrder } from './partitions.js';

export interface MovingOptions {
  readonly outside: Pick<OutsideWork, 'isIdle' | 'setMoving'>;
  /** How long a partition that is to move waits for its work outside, in milliseconds. */
  readonly patienceMs: () => number;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/**
 * Chooses which of the partitions held here are handed over, so that other processes have their share: those without work
 * outside first, from the end of the taking order. Where too few are idle, others are kept from beginning more, and are
 * chosen once they are idle, or have been waited for long enough.
 */
export function createChooseMoving({
  outside,
  patienceMs,
  clock,
}: MovingOptions): (mine: readonly number[], excess: number) => number[] {
  /** Since when each is waited for, in milliseconds of the monotonic clock. */
  let waiting = new Map<number, number>();
  return (mine, excess) => {
    const now = clock.monotonic();
    const isOverdue = (partition: number) => now - (waiting.get(partition) ?? now) >= patienceMs();
    const isReady = (partition: number) => outside.isIdle(partition) || isOverdue(partition);
    const inOrder = mine.toSorted((a, b) => takingOrder(b) - takingOrder(a));
    const chosen = inOrder.filter(isReady).slice(0, Math.max(0, excess));
    const awaited = inOrder
      .filter((partition) => !isReady(partition))
      .sort((a, b) => Number(waiting.has(b)) - Number(waiting.has(a)))
      .slice(0, Math.max(0, excess - chosen.length));
    waiting = new Map(awaited.map((partition) => [partition, waiting.get(partition) ?? now]));
    outside.setMoving([...chosen, ...awaited]);
    return chosen;
  };
}
