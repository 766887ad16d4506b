import type { OccurrenceStatus } from '../api/schedules.js';
import { defined, nameIn, pageIn, wordIn } from '../ui/search-values.js';

/** What the address of the page holds. */
export interface SchedulesSearch {
  /** Whose ledger is shown. */
  event?: string | undefined;
  status?: OccurrenceStatus | undefined;
  page?: number | undefined;
}

export const STATUSES: readonly OccurrenceStatus[] = ['fired', 'running', 'skipped', 'missed', 'paused'];

export const readSchedulesSearch = (search: Record<string, unknown>): SchedulesSearch =>
  defined({
    event: nameIn(search['event']),
    status: wordIn(search['status'], STATUSES),
    page: pageIn(search['page']),
  });
