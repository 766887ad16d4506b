import { ServiceError } from '@orrery/contracts';
import { noChanges } from '../../core/deciding/check-changes.js';
import { executionErrorOf, type JournalEntryDraft, storedChanges, uuidV7 } from '../../core/entries/entry.js';
import type { Payment } from '../../core/payments/payment.js';
import type { ItemOutcome } from '../../lane/items/work-item.js';
import type { Effects } from '../../store/commit/batch.js';
import { paymentOf, type RunRow } from '../../store/runs/run-store.js';
import { withEntry } from '../requests/conclude.js';

/** What is committed, exactly so, once the payment is settled (the column `staged`). */
export interface StagedOutcome extends Pick<Effects, 'durationMs' | 'pushes' | 'llm'> {
  readonly entry: JournalEntryDraft;
}

/** What `stageRun` stored. */
export function stagedOutcomeOf({ staged }: Pick<RunRow, 'staged'>): StagedOutcome {
  const { entry, ...rest } = staged as unknown as StagedOutcome;
  return { ...rest, entry: { ...entry, changes: storedChanges(entry.changes) } };
}

/** The payment of a run that is paid for. */
export function requiredPayment(row: RunRow): Payment {
  const payment = paymentOf(row);
  if (payment === undefined) throw new ServiceError('internal', 'A run without a payment was staged.');
  return payment;
}

/**
 * The failed entry of a run that was staged: nothing of what was staged is committed. It names the version that was
 * decided, whatever is bound by now. `journalled` is what the entry holds of the error.
 */
export function failedAfterStaging(
  row: RunRow,
  error: ServiceError,
  now: number,
  journalled = error,
): Extract<ItemOutcome<never>, { kind: 'commit' }> {
  const { entry: staged, llm = null } = stagedOutcomeOf(row);
  const entry = {
    ...staged,
    id: uuidV7(now),
    status: 'failed' as const,
    changes: noChanges(),
    result: null,
    error: executionErrorOf(journalled),
    executedAt: new Date(now).toISOString(),
  };
  return {
    kind: 'commit',
    effects: { entry, llm, durationMs: Math.max(0, now - row.created_at.getTime()) },
    answer: (sealed) => ({ error: withEntry(error, sealed) }),
  };
}
