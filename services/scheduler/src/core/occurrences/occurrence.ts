import {
  type ExecutionError,
  type ExpectedBinding,
  executionErrorOf,
  type JsonObject,
  occurrenceKey,
  ServiceError,
} from '@orrery/contracts';
import { makeInput, type TemplateSource } from './make-input.js';

/**
 * `due`: one due time. `manual`: run on request. `span`: `count` due times from `due_at` to `until`. `pause`: from `due_at`
 * to `until`, which is null while it lasts.
 */
export type OccurrenceKind = 'due' | 'manual' | 'span' | 'pause';

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

/** What an occurrence sends, or why its template failed. */
export type Content = Pick<ClaimedOccurrence, 'counter' | 'input' | 'error'>;

/** The content of a schedule's next occurrence. Times in milliseconds since the epoch. */
export function contentOf(
  schedule: TemplateSource & { readonly counter: number },
  scheduledAt: number,
  now: number,
): Content {
  const counter = schedule.counter + 1;
  try {
    return { counter, input: makeInput(schedule, { counter, scheduledAt, now }), error: null };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { counter, input: null, error: executionErrorOf(error) };
  }
}

/** What has to be bound when the occurrence is executed. */
export function expectedOf({
  binding_id,
  event_version,
  version_hash,
}: {
  readonly binding_id: number | null;
  readonly event_version: number | null;
  readonly version_hash: string | null;
}): ExpectedBinding | null {
  if (event_version === null || version_hash === null) return null;
  const expected = { eventVersion: event_version, versionHash: version_hash };
  return binding_id === null ? expected : { bindingId: binding_id, ...expected };
}

/** What names an attempt at the runtime, which executes it once, however often it is sent. */
export const keyOf = (
  occurrence: Pick<ClaimedOccurrence, 'deployment' | 'event' | 'kind' | 'id' | 'dueAt'>,
  attempt: number,
): string => {
  const { deployment, event, kind, id, dueAt } = occurrence;
  return kind === 'manual'
    ? occurrenceKey({ deployment, event, kind: 'run', position: id, attempt })
    : occurrenceKey({ deployment, event, kind: 'due', position: dueAt, attempt });
};
