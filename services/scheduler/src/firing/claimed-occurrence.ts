import { type ExecutionError, type ExpectedBinding, type JsonObject, ServiceError } from '@orrery/contracts';
import type { OccurrenceKind, OccurrenceRow, ScheduleRow } from '../database/schema.js';
import { makeInput, type TemplateRow } from './make-input.js';

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

/** A schedule as far as its occurrences' inputs go. */
type ContentRow = TemplateRow & Pick<ScheduleRow, 'counter'>;

/** What an occurrence sends, or why its template failed. */
export type Content = Pick<ClaimedOccurrence, 'counter' | 'input' | 'error'>;

export function contentOf(row: ContentRow, scheduledAt: number, now: number): Content {
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
export function expectedOf({
  binding_id,
  event_version,
  version_hash,
}: Pick<ScheduleRow, 'binding_id' | 'event_version' | 'version_hash'>): ExpectedBinding | null {
  if (event_version === null || version_hash === null) return null;
  return binding_id === null
    ? { eventVersion: event_version, versionHash: version_hash }
    : { bindingId: binding_id, eventVersion: event_version, versionHash: version_hash };
}

/** The first attempt of a due time. */
export const firstAttemptOf = (
  id: number,
  row: Pick<ScheduleRow, 'id' | 'deployment' | 'event' | 'version_id'>,
  dueAt: number,
  { counter, input, error }: Content,
  expected: ExpectedBinding | null,
): ClaimedOccurrence => ({
  id,
  scheduleId: row.id,
  deployment: row.deployment,
  event: row.event,
  kind: 'due',
  dueAt,
  versionId: row.version_id,
  counter,
  attempt: 1,
  repeats: 0,
  input,
  expected,
  error,
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
