import {
  asServiceError,
  callerName,
  type ExecutionAnswer,
  executionErrorOf,
  type PushPlan,
  type Recorded,
  ServiceError,
} from '@orrery/contracts';
import {
  answerOf,
  type Decision,
  type Execution,
  failedCodeOf,
  type JournalEntryDraft,
  noChanges,
  recordTimers,
  type SealedEntry,
  type Success,
  uuidV7,
  withFailedCode,
} from '@orrery/deciding';
import { withoutAmounts } from '../../core/prompting/grant.js';
import type { Evidence } from '../../core/prompting/model.js';
import type { ItemOutcome } from '../../lane/items/work-item.js';
import type { TimerEffects } from '../../store/commit/effects.js';
import { checkPlan } from '../../store/commit/stage-timers.js';
import type { DeploymentState } from '../../store/state/deployment-state.js';
import type { ExecutedTimer } from '../../store/state/timer-store.js';
import { commitmentBefore } from './randomness.js';
import type { Resolved } from './resolve-event.js';

/** What an entry records beside the decision. */
export interface EntryDetails {
  /** What it may set is bounded by what is pending there. */
  readonly state: Pick<DeploymentState, 'row' | 'timers' | 'head'>;
  /** The timer that is executed. */
  readonly timer?: ExecutedTimer | undefined;
  /** Milliseconds since the execution began. */
  readonly elapsed: () => number;
  /** What the entry records of the model that decided. */
  readonly evidence?: Evidence | undefined;
  /** Of the payment for the execution. */
  readonly paymentKey?: string | undefined;
  /** The payment is charged already: a failure leaves it due for a refund. */
  readonly isPaid?: boolean;
}

/** What is committed and answered for a decision: the one place where an execution becomes a journal entry. */
export function conclude(
  resolved: Resolved,
  execution: Execution,
  decision: Decision,
  details: EntryDetails,
): ItemOutcome<ExecutionAnswer> {
  switch (decision.kind) {
    case 'needs':
      return { kind: 'needs', needs: decision };
    case 'refused':
      // A timer is gone once it is due, so it leaves an entry whatever becomes of it.
      return execution.trigger === 'timer'
        ? failedOutcome(resolved, execution, decision.error, details)
        : { kind: 'refuse', error: decision.error };
    case 'failed':
      return failedOutcome(resolved, execution, decision.error, details, decision.recorded);
    case 'succeeded':
      return succeededOutcome(resolved, execution, decision, details);
  }
}

type Outcome = Pick<JournalEntryDraft, 'status' | 'changes' | 'result' | 'error' | 'recorded'>;

/** What the request and its decision add to the entry; undefined: nothing. */
const recordedOf = (of: Recorded | undefined, by: Recorded | undefined): Recorded | undefined =>
  of === undefined || by === undefined ? (of ?? by) : { ...of, ...by };

function draftOf(
  { binding, definition }: Resolved,
  execution: Execution,
  { evidence, paymentKey }: Pick<EntryDetails, 'evidence' | 'paymentKey'>,
  { status, changes, result, error, recorded }: Outcome,
): JournalEntryDraft {
  return {
    deployment: execution.deployment.address,
    id: uuidV7(execution.now),
    kind: 'execution',
    event: execution.event,
    eventVersion: binding.eventVersion,
    versionHash: definition.definition.versionHash,
    trigger: execution.trigger,
    caller: callerName(execution.caller),
    status,
    input: execution.input,
    changes,
    result,
    error,
    llmHash: evidence?.llmHash ?? null,
    attestation: evidence?.attestation ?? null,
    paymentKey: paymentKey ?? null,
    decidedAt: execution.seen?.timestamp ?? execution.timestamp,
    evaluator: execution.evaluator,
    recorded: recordedOf(execution.recorded, recorded),
  };
}

/** A failure from *read* on leaves an entry with its reason and changes no instance. */
export function failedOutcome(
  resolved: Resolved,
  execution: Execution,
  error: ServiceError,
  details: EntryDetails,
  recorded?: Recorded,
): ItemOutcome<ExecutionAnswer> {
  const { elapsed, evidence, isPaid = false } = details;
  const told = (one: ServiceError) => (isPaid ? withRefundDue(one) : one);
  const journalled = told(withoutAmounts(error));
  const outcome: Outcome = {
    status: 'failed',
    changes: noChanges(),
    result: null,
    error: executionErrorOf(journalled),
    recorded,
  };
  const entry = draftOf(resolved, execution, details, outcome);
  const before = committedBefore(execution, details);
  const answered = execution.caller.kind === 'account' ? told(withFailedCode(error)) : journalled;
  return {
    kind: 'commit',
    effects: {
      entry,
      before,
      durationMs: inMicroseconds(elapsed()),
      llm: evidence?.llm ?? null,
      failedCode: failedCodeOf(error),
    },
    answer: (sealed) => ({ error: withEntry(answered, sealed) }),
  };
}

/** Tells who paid that it gets its money back. */
export const withRefundDue = (error: ServiceError): ServiceError =>
  new ServiceError(
    error.code,
    `${error.message} The payment was charged: the owner of the deployment has to return it.`,
    { errors: error.errors, facts: { ...error.facts, refundDue: true }, cause: error.cause },
  );

/** Three decimals of a millisecond: what clocks say beyond them is noise. */
const inMicroseconds = (ms: number): number => Math.round(ms * 1000) / 1000;

/** Adds the id and seq of the failed entry to the caller's error. */
export const withEntry = (error: ServiceError, { id, seq }: SealedEntry): ServiceError =>
  new ServiceError(error.code, error.message, {
    errors: error.errors,
    facts: { ...error.facts, historyId: id, seq },
    cause: error.cause,
  });

/** What an execution sets, as effects; or why it cannot, or what must be in memory first. */
function timersOf(
  { caller, recorded, seen }: Execution,
  planned: Success['followUps'] = [],
  { state, timer }: EntryDetails,
):
  | { readonly needs: readonly string[] }
  | { readonly error: ServiceError }
  | { readonly timers?: TimerEffects } {
  // What is replayed sets nothing: what it set is replayed as well. Nor does a fork that is not kept.
  if (planned.length === 0 || seen !== undefined || state.row.is_kept === false) return {};
  try {
    const needs = checkPlan(state, planned, { tree: timer?.tree, ends: timer === undefined ? 0 : 1 });
    if (needs.length > 0) return { needs };
  } catch (error) {
    return { error: asServiceError(error) };
  }
  return { timers: { planned, caller, depth: (recorded?.depth ?? 0) + 1 } };
}

function succeededOutcome(
  resolved: Resolved,
  execution: Execution,
  { changes, result, recorded, followUps }: Success,
  details: EntryDetails,
): ItemOutcome<ExecutionAnswer> {
  const set = timersOf(execution, followUps, details);
  if ('needs' in set) return { kind: 'needs', needs: { timerKeys: set.needs } };
  if ('error' in set) return failedOutcome(resolved, execution, set.error, details, recorded);
  const { elapsed, evidence } = details;
  const entry = draftOf(resolved, execution, details, {
    status: 'succeeded',
    changes,
    result,
    error: null,
    recorded,
  });
  const pushes = planOf(resolved.binding);
  const timers = followUps?.length ? recordTimers(entry.id, followUps) : undefined;
  return {
    kind: 'commit',
    effects: {
      entry: timers === undefined ? entry : { ...entry, recorded: { ...entry.recorded, timers } },
      durationMs: inMicroseconds(elapsed()),
      pushes,
      llm: evidence?.llm ?? null,
      before: committedBefore(execution, details),
      ...set,
    },
    answer: (sealed) => ({ reply: answerOf(sealed, pushes?.targetChains ?? []) }),
  };
}

/** What is pushed because of it. A head has no contents, so the execution itself is not pushed. */
function planOf({ targetChains, onchain }: Resolved['binding']): PushPlan | null {
  if (targetChains.length === 0) return null;
  return onchain?.head === undefined
    ? { targetChains, onchain }
    : { targetChains: [], onchain: null, headChains: targetChains };
}

/** What has to be committed before the entry of an execution that has drawn random numbers. */
const committedBefore = ({ randomness, now }: Execution, { state }: EntryDetails) =>
  randomness && commitmentBefore(randomness, state, now);
