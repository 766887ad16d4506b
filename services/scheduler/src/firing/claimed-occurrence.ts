import { type ExecutionError, type ExpectedBinding, type JsonObject, ServiceError } from '@orrery/contracts';
import type { OccurrenceKind, OccurrenceRow, ScheduleRow } from '../database/schema.js';
import { makeInput } from './make-input.js';

/** An occurrence that this process fires; nobody else does before its claim runs out. */
export interface ClaimedOccurrence {
  readonly id: number;
  readonly scheduleId: number;
  readonly deployment: string;
  readonly event: string;
  readonly kind: OccurrenceKind;
  /** Milliseconds since the epoch. */
  readonly dueAt: number;
  readonly versionId: number | null;
  readonly counter: number;
  readonly attempt: number;
  readonly repeats: number;
  readonly input: JsonObject | null;
  readonly expected: ExpectedBinding | null;
  /** Why there is no input. */
  readonly error: ExecutionError | null;
  /** What the attempt before this one led to; null for the first. */
  readonly failed: FailedAttempt | null;
}

/** An attempt that failed for a reason that may pass. */
export interface FailedAttempt {
  readonly error: ExecutionError;
  /** Its entry in the history; null where the execution was refused before it read anything. */
  readonly entry: { readonly historyId: string; readonly seq: number } | null;
}

/** A process that has not recorded an outcome this long after its claim is taken for gone, in milliseconds. */
export const CLAIM_MS = 30_000;

/** An occurrence before it has its row. */
export type NewOccurrence = Omit<ClaimedOccurrence, 'id'>;

/** What an occurrence sends, or why its template failed. */
export function contentOf(row: ScheduleRow, scheduledAt: number, now: number) {
  const counter = row.counter + 1;
  try {
    return { counter, input: makeInput(row, { counter, scheduledAt, now }), error: null };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const facts = error.facts as JsonObject;
    return { counter, input: null, error: { code: error.code, detail: error.message, facts } };
  }
}

/** What has to be bound when the occurrence is executed. */
export const expectedOf = (row: ScheduleRow): ExpectedBinding | null =>
  row.event_version === null || row.version_hash === null
    ? null
    : {
        ...(row.binding_id !== null && { bindingId: row.binding_id }),
        eventVersion: row.event_version,
        versionHash: row.version_hash,
      };

/** The first attempt of a due time. */
export const firstAttemptOf = (row: ScheduleRow, dueAt: number, now: number): NewOccurrence => ({
  ...contentOf(row, dueAt, now),
  scheduleId: row.id,
  deployment: row.deployment,
  event: row.event,
  kind: 'due',
  dueAt,
  versionId: row.version_id,
  attempt: 1,
  repeats: 0,
  expected: expectedOf(row),
  failed: null,
});

/** An occurrence of which another process, or this one, has made the row. */
export const toClaimed = (row: OccurrenceRow & { deployment: string; event: string }): ClaimedOccurrence => ({
  id: row.id,
  scheduleId: row.schedule_id,
  deployment: row.deployment,
  event: row.event,
  kind: row.kind,
  dueAt: row.due_at.getTime(),
  versionId: row.version_id,
  counter: row.counter ?? 0,
  attempt: row.attempt,
  repeats: row.repeats,
  input: row.input,
  expected: row.expected,
  error: row.input === null ? row.error : null,
  failed: failedAttemptOf(row),
});

function failedAttemptOf({ attempt, error, history_id, seq }: OccurrenceRow): FailedAttempt | null {
  if (attempt === 1 || error === null) return null;
  return { error, entry: history_id === null || seq === null ? null : { historyId: history_id, seq } };
}
