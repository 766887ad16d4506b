import { executionErrorOf, ServiceError } from '@orrery/contracts';
import { type JournalEntryDraft, noChanges, storedChanges, uuidV7 } from '@orrery/deciding';
import type { Payment } from '../../core/payments/payment.js';
import type { FixedRound } from '../../core/randomness/beacon.js';
import type { ItemOutcome } from '../../lane/items/work-item.js';
import type { Effects } from '../../store/commit/effects.js';
import { paymentOf, type RunRow } from '../../store/runs/run-store.js';
import { withEntry } from '../requests/conclude.js';

/** What is committed, exactly so, once the payment is settled (the column `staged`). */
export interface StagedOutcome extends Pick<Effects, 'durationMs' | 'pushes' | 'llm' | 'timers'> {
  readonly entry: JournalEntryDraft;
  /** Of a run that is decided anew: the round of the beacon that it draws from, instead of its first one. Null: there is none. */
  readonly round?: FixedRound | null;
}

/**
 * What is stored of it. The release before reads the time of the decision as `executedAt`, and what it stored has neither
 * `decidedAt` nor `evaluator`.
 */
type StoredOutcome = Omit<StagedOutcome, 'entry'> & {
  readonly entry: Omit<JournalEntryDraft, 'decidedAt' | 'evaluator'> &
    Partial<JournalEntryDraft> & { executedAt: string };
};

export const storedOutcome = ({ entry, ...rest }: StagedOutcome): StoredOutcome => ({
  ...rest,
  entry: { ...entry, executedAt: entry.decidedAt },
});

/** What `stageRun` stored. */
export function stagedOutcomeOf({ staged }: Pick<RunRow, 'staged'>): StagedOutcome {
  const { entry, ...rest } = staged as unknown as StoredOutcome;
  const { executedAt, decidedAt = executedAt, evaluator = 1, ...draft } = entry;
  return { ...rest, entry: { ...draft, decidedAt, evaluator, changes: storedChanges(draft.changes) } };
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
  // What it would have set is not set.
  const { timers: _, ...recorded } = staged.recorded ?? {};
  const entry = {
    ...staged,
    recorded: Object.keys(recorded).length > 0 ? recorded : undefined,
    id: uuidV7(now),
    status: 'failed' as const,
    changes: noChanges(),
    result: null,
    error: executionErrorOf(journalled),
    decidedAt: new Date(now).toISOString(),
  };
  return {
    kind: 'commit',
    effects: { entry, llm, durationMs: Math.max(0, now - row.created_at.getTime()) },
    answer: (sealed) => ({ error: withEntry(error, sealed) }),
  };
}
