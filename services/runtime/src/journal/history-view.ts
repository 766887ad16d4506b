import type { HistoryEntry, PushPlan, PushSummary } from '@orrery/contracts';
import { stateChangesOf } from './fold-changes.js';
import type { ShownRow } from './history-store.js';
import { hashedEntryOf } from './journal-row.js';

/** An entry as it is shown; the query has left out what the reader may not see. */
export function toHistoryEntry(row: ShownRow, deployment: string): HistoryEntry {
  const entry = hashedEntryOf(row, deployment);
  return {
    ...entry,
    hash: row.hash,
    stateChanges: stateChangesOf(entry.changes),
    llm: row.llm,
    payment: row.payment,
    pushes: pushesOf(row.pushes as PushPlan | null),
    durationMs: row.duration_ms,
  };
}

/** Every push of a plan starts as queued; how it went on is the chain-pusher's to tell. */
export const pushesOf = (plan: PushPlan | null): PushSummary[] =>
  (plan?.targetChains ?? []).map((chain) => ({ chain, status: 'queued' }));
