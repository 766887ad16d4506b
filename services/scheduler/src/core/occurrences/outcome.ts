import type { ExecutionError, JsonValue } from '@orrery/contracts';
import { timestampOf } from '@orrery/service-kit';
import type { ClaimedOccurrence, FailedAttempt } from './occurrence.js';
import type { SendResult } from './send-result.js';

/** How an occurrence ended. */
export interface Outcome {
  readonly id: number;
  readonly scheduleId: number;
  /** The attempt that led to it. */
  readonly attempt: number;
  /** Those that were made: of an occurrence that failed before, the present one was not if it is skipped. */
  readonly attempts: number;
  readonly status: 'fired' | 'skipped' | 'missed';
  readonly reason: string | null;
  readonly outcome: 'succeeded' | 'failed' | null;
  readonly historyId: string | null;
  readonly seq: number | null;
  readonly error: ExecutionError | null;
  readonly result: JsonValue;
  /** As `cronState` shows the due time. */
  readonly scheduledAt: string;
}

/** How an occurrence ends. One that failed before has fired, whatever keeps its next attempt from being executed. */
export function outcomeOf(occurrence: ClaimedOccurrence, sent: SendResult): Outcome {
  const { id, scheduleId, attempt, dueAt, failed: before } = occurrence;
  const end = { id, scheduleId, attempt, attempts: attempt, scheduledAt: timestampOf(dueAt), ...NOTHING };
  const failed = ({ error, entry }: FailedAttempt): Outcome => ({
    ...end,
    ...entry,
    status: 'fired',
    outcome: 'failed',
    error,
  });
  switch (sent.kind) {
    case 'succeeded': {
      const { historyId, seq, result } = sent;
      return { ...end, status: 'fired', outcome: 'succeeded', historyId, seq, result };
    }
    case 'failed':
      return failed(sent);
    case 'skipped':
      return before === null
        ? { ...end, status: 'skipped', reason: sent.reason }
        : { ...failed(before), attempts: attempt - 1 };
    default:
      return failed(NO_ANSWER);
  }
}

const NO_ANSWER: FailedAttempt = {
  error: { code: 'internal', detail: 'The runtime could not execute it.' },
  entry: null,
};

const NOTHING = { reason: null, outcome: null, historyId: null, seq: null, error: null, result: null };
