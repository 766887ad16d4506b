import {
  type Caller,
  callerName,
  EVALUATOR,
  executionErrorOf,
  type JsonObject,
  type ServiceError,
} from '@orrery/contracts';
import { noChanges, uuidV7 } from '@orrery/deciding';
import type { ItemOutcome } from '../../lane/items/work-item.js';
import type { ExecutedTimer } from '../../store/state/timer-store.js';
import { withEntry } from './conclude.js';

interface TimerRequest {
  readonly event: string;
  readonly input: JsonObject;
  readonly caller: Caller;
}

/**
 * The failed entry of a timer that cannot be executed: it is due, so it is gone, and says why. `eventVersion`: the number of
 * the version that is bound, if one is.
 */
export function failedTimer(
  { event, input, caller }: TimerRequest,
  { deployment, cause, depth }: ExecutedTimer,
  error: ServiceError,
  now: number,
  eventVersion: number | null = null,
): Extract<ItemOutcome<never>, { kind: 'commit' }> {
  const entry = {
    deployment,
    id: uuidV7(now),
    kind: 'execution' as const,
    event,
    eventVersion,
    versionHash: null,
    trigger: 'timer' as const,
    caller: callerName(caller),
    status: 'failed' as const,
    input,
    changes: noChanges(),
    result: null,
    error: executionErrorOf(error),
    llmHash: null,
    attestation: null,
    paymentKey: null,
    decidedAt: new Date(now).toISOString(),
    evaluator: EVALUATOR,
    recorded: { cause, depth },
  };
  return { kind: 'commit', effects: { entry }, answer: (sealed) => ({ error: withEntry(error, sealed) }) };
}
