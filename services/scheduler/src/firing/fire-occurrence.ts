import type { Bus, CallOptions } from '@orrery/bus';
import {
  type Cancellation,
  ERRORS,
  type ErrorCode,
  type ExecutionError,
  isErrorCode,
  type JsonValue,
  occurrenceKey,
  runtimeContract,
  ServiceError,
  type ServiceExecution,
} from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import type { ClaimedOccurrence } from './claimed-occurrence.js';

/** What one sending of an attempt led to. */
export type Shot =
  | {
      readonly kind: 'succeeded';
      readonly historyId: string;
      readonly seq: number;
      readonly result: JsonValue;
    }
  | {
      readonly kind: 'failed';
      readonly error: ExecutionError;
      /** Null where the execution was refused before it read anything. */
      readonly entry: { readonly historyId: string; readonly seq: number } | null;
    }
  /** Not executed, and it will not be. */
  | { readonly kind: 'skipped'; readonly reason: string }
  /** Something else is bound now than the occurrence was made for. */
  | { readonly kind: 'changed' }
  /** Nobody knows yet. The same attempt is sent again. */
  | { readonly kind: 'unknown'; readonly error: unknown };

export interface FireDependencies {
  readonly bus: Pick<Bus, 'call'>;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** A call is waited for this long; the execution may go on after it. In milliseconds. */
const TIMEOUT_MS = 15_000;

/** What names an attempt at the runtime, which executes it once, however often it is sent. */
export const keyOf = (
  {
    deployment,
    event,
    kind,
    id,
    dueAt,
  }: Pick<ClaimedOccurrence, 'deployment' | 'event' | 'kind' | 'id' | 'dueAt'>,
  attempt: number,
): string =>
  kind === 'manual'
    ? occurrenceKey({ deployment, event, kind: 'run', position: id, attempt })
    : occurrenceKey({ deployment, event, kind: 'due', position: dueAt, attempt });

/** Who calls: the schedule itself, as the journal shows it. */
export const asSchedule = (
  event: string,
  clock: Pick<Clock, 'monotonic'>,
  signal: Cancellation,
  leavesRun = false,
): CallOptions => ({
  caller: { kind: 'schedule', event },
  requestId: crypto.randomUUID(),
  deadline: clock.monotonic() + TIMEOUT_MS,
  signal,
  leavesRun,
});

/** Sends an attempt. Never rejects. */
export async function fireOccurrence(
  { bus, clock }: FireDependencies,
  occurrence: ClaimedOccurrence,
  signal: Cancellation,
): Promise<Shot> {
  const { deployment, event, kind, input, expected, attempt, error } = occurrence;
  if (error !== null || input === null) return { kind: 'failed', error: error ?? NO_INPUT, entry: null };
  const request = {
    deployment,
    event,
    input,
    trigger: 'cron' as const,
    keys: [{ scope: 'occurrence' as const, key: keyOf(occurrence, attempt) }],
    expected,
  };
  try {
    const rpc = runtimeContract.rpcs['executions.forService'];
    // A run is asked for again until it has ended; only who requested one waits for it.
    return shotOf(await bus.call(rpc, request, asSchedule(event, clock, signal, kind === 'due')));
  } catch (thrown) {
    // The definition changed after the first sending had been executed.
    return isReused(thrown) ? askOutcome({ bus, clock }, occurrence, signal, thrown) : shotOfError(thrown);
  }
}

const isReused = (error: unknown): boolean =>
  error instanceof ServiceError && error.code === 'idempotency_key_reused';

async function askOutcome(
  { bus, clock }: FireDependencies,
  occurrence: ClaimedOccurrence,
  signal: Cancellation,
  refusal: unknown,
): Promise<Shot> {
  const { deployment, event, attempt } = occurrence;
  const request = { deployment, scope: 'occurrence' as const, key: keyOf(occurrence, attempt) };
  try {
    const rpc = runtimeContract.rpcs['executions.outcomeOf'];
    const outcome = await bus.call(rpc, request, asSchedule(event, clock, signal));
    // Its outcome was stored once and acknowledged.
    return outcome.state === 'unknown' ? shotOfError(refusal) : shotOf(outcome);
  } catch (thrown) {
    return shotOfError(thrown);
  }
}

const NO_INPUT: ExecutionError = { code: 'template_failed', detail: 'The occurrence has no input.' };

function shotOf(execution: ServiceExecution): Shot {
  if (execution.state === 'running') return { kind: 'unknown', error: undefined };
  const { historyId, seq } = execution;
  return execution.status === 'succeeded'
    ? { kind: 'succeeded', historyId, seq, result: execution.answer.result ?? null }
    : { kind: 'failed', error: execution.error, entry: { historyId, seq } };
}

/** Refusals that say that the occurrence was made for something else than what is there. */
const CHANGED: ReadonlySet<string> = new Set<ErrorCode>([
  'binding_changed',
  'event_not_bound',
  'deployment_not_found',
  'unknown_event_version',
]);

/** An error that was answered with a refusal is final; one that may pass, or says nothing, is not. */
function shotOfError(error: unknown): Shot {
  if (!(error instanceof ServiceError)) return { kind: 'unknown', error };
  if (CHANGED.has(error.code)) return { kind: 'changed' };
  if (error.code === 'deployment_paused') return { kind: 'skipped', reason: 'deployment_paused' };
  if (error.retryable || error.code === 'internal') return { kind: 'unknown', error };
  return { kind: 'failed', error: { code: error.code, detail: error.message }, entry: null };
}

/** Whether an execution that failed for this reason may succeed later without being changed. */
export const mayRetry = ({ code }: ExecutionError): boolean => isErrorCode(code) && ERRORS[code].retryable;
