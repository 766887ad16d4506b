import type { Pagination } from '@orrery/sdk';

/** The API refuses pages that end beyond so many items. */
const DEEPEST = 100_000;

/** Which items of a list a page of so many rows shows, and whether another one may follow. A total may be a minimum. */
export function rangeOf({ page, limit, totalPages, totalIsMinimum }: Pagination, rows: number) {
  const before = (page - 1) * limit;
  const isCountedTo = page < totalPages;
  const mayFollow = totalIsMinimum === true && rows >= limit && before + 2 * limit <= DEEPEST;
  return { first: before + 1, last: before + rows, hasNext: isCountedTo || mayFollow };
}
