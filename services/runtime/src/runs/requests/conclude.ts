import { callerName, type ExecutionAnswer, ServiceError } from '@orrery/contracts';
import { noChanges } from '../../core/deciding/check-changes.js';
import type { Decision, Execution, Success } from '../../core/deciding/execution.js';
import {
  answerOf,
  executionErrorOf,
  type JournalEntryDraft,
  type SealedEntry,
  uuidV7,
} from '../../core/entries/entry.js';
import type { Evidence } from '../../core/models/model.js';
import type { ItemOutcome } from '../../lane/items/work-item.js';
import type { Resolved } from './resolve-event.js';

/** What an entry records beside the decision. */
export interface EntryDetails {
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
      return { kind: 'refuse', error: decision.error };
    case 'failed':
      return failedOutcome(resolved, execution, decision.error, details);
    case 'succeeded':
      return succeededOutcome(resolved, execution, decision, details);
  }
}

type Outcome = Pick<JournalEntryDraft, 'status' | 'changes' | 'result' | 'error'>;

function draftOf(
  { binding, definition }: Resolved,
  execution: Execution,
  { evidence, paymentKey }: Pick<EntryDetails, 'evidence' | 'paymentKey'>,
  { status, changes, result, error }: Outcome,
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
    executedAt: execution.timestamp,
  };
}

/** A failure from *read* on leaves an entry with its reason and changes no instance. */
export function failedOutcome(
  resolved: Resolved,
  execution: Execution,
  error: ServiceError,
  details: EntryDetails,
): ItemOutcome<ExecutionAnswer> {
  const { elapsed, evidence, isPaid = false } = details;
  const told = isPaid ? withRefundDue(error) : error;
  const outcome: Outcome = {
    status: 'failed',
    changes: noChanges(),
    result: null,
    error: executionErrorOf(told),
  };
  const entry = draftOf(resolved, execution, details, outcome);
  return {
    kind: 'commit',
    effects: { entry, durationMs: inMicroseconds(elapsed()), llm: evidence?.llm ?? null },
    answer: (sealed) => ({ error: withEntry(told, sealed) }),
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

function succeededOutcome(
  resolved: Resolved,
  execution: Execution,
  { changes, result }: Success,
  details: EntryDetails,
): ItemOutcome<ExecutionAnswer> {
  const { elapsed, evidence } = details;
  const { targetChains, onchain } = resolved.binding;
  const entry = draftOf(resolved, execution, details, { status: 'succeeded', changes, result, error: null });
  const pushes = targetChains.length > 0 ? { targetChains, onchain } : null;
  return {
    kind: 'commit',
    effects: { entry, durationMs: inMicroseconds(elapsed()), pushes, llm: evidence?.llm ?? null },
    answer: (sealed) => ({ reply: answerOf(sealed, resolved.binding.targetChains) }),
  };
}
