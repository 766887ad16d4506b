import type { CallOptions } from '@orrery/bus';
import { type ExecutionError, runtimeContract, ServiceError } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import { CLAIM_MS, type ClaimedOccurrence, keyOf } from '../core/occurrences/occurrence.js';
import { resultOf, resultOfError, type SendResult } from '../core/occurrences/send-result.js';
import type { SchedulerContext } from '../following/context.js';

type FireContext = Pick<SchedulerContext, 'bus' | 'clock'>;

/** A call is waited for this long; the execution may go on after it. In milliseconds. */
const TIMEOUT_MS = 15_000;
/** A call may be on its way for so long after a pause: what was read before it is sent within half of a claim. */
const LATEST_MS = CLAIM_MS / 2 + TIMEOUT_MS;

/** Who calls: the schedule itself, as the journal shows it. */
export const asSchedule = (
  event: string,
  clock: Pick<Clock, 'monotonic'>,
  signal: AbortSignal,
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
  { bus, clock }: FireContext,
  occurrence: ClaimedOccurrence,
  signal: AbortSignal,
): Promise<SendResult> {
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
    return resultOf(await bus.call(rpc, request, asSchedule(event, clock, signal, kind === 'due')));
  } catch (thrown) {
    // The definition changed after the first sending had been executed.
    return isReused(thrown)
      ? askOutcome({ bus, clock }, occurrence, DECIDED_BEFORE, signal)
      : resultOfError(thrown);
  }
}

const NO_INPUT: ExecutionError = { code: 'template_failed', detail: 'The occurrence has no input.' };

/**
 * What became of an attempt whose schedule is paused: it is not sent, also not again. What was sent before the pause, so many
 * milliseconds ago, may still be on its way until its call has run out.
 */
export function askOfPaused(
  context: FireContext,
  occurrence: ClaimedOccurrence,
  pausedForMs: number,
  signal: AbortSignal,
): Promise<SendResult> {
  const none: SendResult =
    pausedForMs > LATEST_MS
      ? { kind: 'skipped', reason: 'schedule_paused' }
      : { kind: 'unknown', error: undefined };
  return askOutcome(context, occurrence, none, signal);
}

const isReused = (error: unknown): boolean =>
  error instanceof ServiceError && error.code === 'idempotency_key_reused';

/** The scheduler's database has gone back since its outcome, or that of a later one, was stored and acknowledged. */
const DECIDED_BEFORE: SendResult = { kind: 'skipped', reason: 'decided_before' };

/** The outcome that the runtime has, or `none`. */
export async function askOutcome(
  { bus, clock }: FireContext,
  occurrence: ClaimedOccurrence,
  none: SendResult,
  signal: AbortSignal,
): Promise<SendResult> {
  const { deployment, event, attempt } = occurrence;
  const request = { deployment, scope: 'occurrence' as const, key: keyOf(occurrence, attempt) };
  try {
    const rpc = runtimeContract.rpcs['executions.outcomeOf'];
    const outcome = await bus.call(rpc, request, asSchedule(event, clock, signal));
    return outcome.state === 'unknown' ? none : resultOf(outcome);
  } catch (thrown) {
    return resultOfError(thrown);
  }
}
