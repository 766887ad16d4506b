import type { StoredEntry } from './entry-groups.js';

/** Entries of the first page: 4 MiB of the largest. */
export const SMALLEST_PAGE = 16;
const LARGEST_PAGE = 500;
/** What the entries of a page may have in bytes, so that checking one does not hold up the process. */
const PAGE_BYTES = 1024 * 1024;
/** Entries that are measured: a page's entries are much alike. */
const MEASURED = 16;

/** How many entries to read next, judged by the last ones. */
export function nextPageSize(page: readonly StoredEntry[]): number {
  const measured = page.slice(-MEASURED);
  const bytes = measured.reduce(
    (sum, { entry }) => sum + JSON.stringify([entry.input, entry.changes]).length,
    0,
  );
  const average = Math.max(1, bytes / Math.max(1, measured.length));
  return Math.min(LARGEST_PAGE, Math.max(SMALLEST_PAGE, Math.floor(PAGE_BYTES / average)));
}
