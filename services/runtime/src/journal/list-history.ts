import {
  type HistoryEntry,
  type HistoryQuery,
  type Pagination,
  paginationOf,
  refuseDeepPage,
  ServiceError,
} from '@orrery/contracts';
import type { Db } from '../database/db.js';
import { countedTotal, countMatching, filterOf, type HistoryFilter, pageOfSeqs } from './history-filter.js';
import { entriesWithoutTexts, headOf, type ShownRow, toHistoryEntry } from './journal-store.js';

/** Bytes of a page's rows as JSON: the bus carries 32 MiB, and `stateChanges` repeats what is in `changes`. */
const MAX_PAGE_BYTES = 14 * 1024 * 1024;
/** Entries of the largest size (256 KiB) that always fit. */
const ALWAYS_FITS = 40;

/** A page of the history, or of the whole journal, newest first. Throws `page_too_deep`. */
export async function listHistory(
  db: Db,
  deployment: { id: number; address: string },
  query: HistoryQuery,
): Promise<{ data: HistoryEntry[]; pagination: Pagination }> {
  const { after, limit } = query;
  const page = { page: query.page ?? 1, limit };
  refuseDeepPage(page);
  const filter = filterOf(query);
  const offset = (page.page - 1) * limit;
  const window = { before: after ?? Number.MAX_SAFE_INTEGER, offset, limit };
  const [seqs, count] = await Promise.all([
    pageOfSeqs(db, deployment.id, filter, window),
    totalOf(db, deployment.id, filter),
  ]);
  const rows = seqs.length === 0 ? [] : await entriesWithoutTexts(db, deployment.id, seqs);
  refuseHeavyPage(rows);
  const pagination = paginationOf(page, count.total);
  return {
    data: rows.map((row) => toHistoryEntry(row, deployment.address)),
    pagination: count.isMinimum ? { ...pagination, totalIsMinimum: true } : pagination,
  };
}

async function totalOf(db: Db, deploymentId: number, filter: HistoryFilter) {
  const { totals } = await headOf(db, deploymentId);
  const counted = countedTotal(filter, totals);
  return counted === undefined
    ? countMatching(db, deploymentId, filter)
    : { total: counted, isMinimum: false };
}

function refuseHeavyPage(rows: readonly ShownRow[]): void {
  if (rows.length <= ALWAYS_FITS || Buffer.byteLength(JSON.stringify(rows)) <= MAX_PAGE_BYTES) return;
  throw new ServiceError(
    'page_too_deep',
    'The entries of this page are too large together. Use a smaller limit.',
  );
}
