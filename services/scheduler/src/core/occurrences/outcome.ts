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
  const { failed: before } = occurrence;
  if (sent.kind === 'succeeded') return firedAs(occurrence, { entry: sent, error: null }, sent.result);
  if (sent.kind === 'failed') return firedAs(occurrence, sent);
  if (sent.kind !== 'skipped') return firedAs(occurrence, NO_ANSWER);
  return before === null ? skippedAs(occurrence, sent.reason) : firedAs(occurrence, before);
}

const NO_ANSWER: FailedAttempt = {
  error: { code: 'internal', detail: 'The runtime could not execute it.' },
  entry: null,
};

const firedAs = (
  occurrence: ClaimedOccurrence,
  { entry, error }: Pick<Outcome, 'error'> & Pick<FailedAttempt, 'entry'>,
  result: Outcome['result'] = null,
): Outcome => ({
  ...endOf(occurrence),
  status: 'fired',
  outcome: error === null ? 'succeeded' : 'failed',
  historyId: entry?.historyId ?? null,
  seq: entry?.seq ?? null,
  error,
  result,
});

const skippedAs = (occurrence: ClaimedOccurrence, reason: string): Outcome => ({
  ...endOf(occurrence),
  status: 'skipped',
  reason,
});

const endOf = ({ id, scheduleId, attempt, dueAt }: ClaimedOccurrence) => ({
  id,
  scheduleId,
  attempt,
  reason: null,
  outcome: null,
  historyId: null,
  seq: null,
  error: null,
  result: null,
  scheduledAt: timestampOf(dueAt),
});
