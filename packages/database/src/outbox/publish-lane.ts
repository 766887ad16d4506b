import type { OutboxRow } from './outbox-row.js';

/** Which rows of a lane the bus has taken, and what went wrong with the one after them. */
export interface LaneOutcome {
  readonly key: string;
  readonly published: readonly number[];
  readonly error?: unknown;
}

/**
 * Publishes the rows of one key in order, `window` of them at a time, and stops at the first failure.
 * With a window above 1 the publications start in order without waiting for each other: then a message may
 * arrive before the repetition of the one that failed, and consumers must go by `orderingSeq`.
 */
export async function publishLane(
  key: string,
  rows: readonly OutboxRow[],
  publish: (row: OutboxRow) => Promise<void>,
  window: number,
): Promise<LaneOutcome> {
  const published: number[] = [];
  for (let start = 0; start < rows.length; start += window) {
    const part = rows.slice(start, start + window);
    const outcomes = await Promise.allSettled(part.map((row) => publish(row)));
    const failed = outcomes.findIndex(({ status }) => status === 'rejected');
    published.push(...part.slice(0, failed < 0 ? part.length : failed).map(({ id }) => id));
    const outcome = outcomes[failed];
    if (outcome?.status === 'rejected') return { key, published, error: outcome.reason };
  }
  return { key, published };
}
