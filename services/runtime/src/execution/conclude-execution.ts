import {
  callerName,
  type DryRunAnswer,
  type ExecutionAnswer,
  type JsonObject,
  ServiceError,
} from '@orrery/contracts';
import { uuidV7 } from '../ids/uuid-v7.js';
import { stateChangesOf } from '../journal/change.js';
import type { JournalEntryDraft, SealedEntry } from '../journal/entry.js';
import { executionErrorOf } from '../journal/entry-error.js';
import type { Binding, DeploymentState } from '../state/deployment-state.js';
import type { ItemOutcome } from '../state/work-item.js';
import { noChanges } from './check-changes.js';
import { decideExecution } from './execute-event.js';
import type { Execution, Decision as ExecutionDecision, Success } from './execution.js';
import type { Resolved } from './resolve-event.js';

export type Answer = ExecutionAnswer | DryRunAnswer;

/** What a model left to be kept with the entry. */
export interface Evidence {
  readonly llm: JsonObject | null;
  readonly llmHash: string | null;
  readonly attestation: JsonObject | null;
}

export interface Surroundings {
  /** Milliseconds since the execution began. */
  readonly elapsed: () => number;
  readonly evidence?: Evidence | undefined;
}

/** The whole of it, for a version that decides by itself. */
export const decideDirectly = (
  resolved: Resolved,
  state: DeploymentState,
  execution: Execution,
  around: Surroundings,
): ItemOutcome<Answer> => concluded(resolved, execution, decideExecution(execution, state.instances), around);

/** What is committed and answered for an execution that was decided so. */
export function concluded(
  resolved: Resolved,
  execution: Execution,
  decision: ExecutionDecision,
  around: Surroundings,
): ItemOutcome<Answer> {
  switch (decision.kind) {
    case 'needs':
      return { kind: 'needs', needs: decision };
    case 'refused':
      return { kind: 'refuse', error: decision.error };
    case 'failed':
      return execution.dryRun
        ? { kind: 'refuse', error: decision.error }
        : failed(resolved, execution, decision.error, around);
    case 'succeeded':
      return execution.dryRun
        ? dryRunAnswer(resolved, execution, decision)
        : succeeded(resolved, execution, decision, around);
  }
}

type Outcome = Pick<JournalEntryDraft, 'status' | 'changes' | 'result' | 'error'>;

function draftOf(
  { binding, definition }: Resolved,
  execution: Execution,
  evidence: Evidence | undefined,
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
    paymentKey: null,
    executedAt: new Date(execution.now).toISOString(),
  };
}

/** From *read* on a failure leaves an entry with its reason, and changes no instance. */
export function failed(
  resolved: Resolved,
  execution: Execution,
  error: ServiceError,
  { elapsed, evidence }: Pick<Surroundings, 'elapsed' | 'evidence'>,
): ItemOutcome<Answer> {
  const outcome: Outcome = {
    status: 'failed',
    changes: noChanges(),
    result: null,
    error: executionErrorOf(error),
  };
  const entry = draftOf(resolved, execution, evidence, outcome);
  return {
    kind: 'commit',
    effects: { entry, durationMs: elapsed(), llm: evidence?.llm ?? null },
    answer: (sealed) => ({ error: withPlace(error, sealed) }),
  };
}

/** Tells the caller which entry says what went wrong. */
const withPlace = (error: ServiceError, { id, seq }: SealedEntry): ServiceError =>
  new ServiceError(error.code, error.message, {
    errors: error.errors,
    facts: { ...error.facts, historyId: id, seq },
    cause: error.cause,
  });

function succeeded(
  resolved: Resolved,
  execution: Execution,
  { changes, result }: Success,
  { elapsed, evidence }: Pick<Surroundings, 'elapsed' | 'evidence'>,
): ItemOutcome<Answer> {
  const { targetChains, onchain } = resolved.binding;
  const entry = draftOf(resolved, execution, evidence, { status: 'succeeded', changes, result, error: null });
  const pushes = targetChains.length > 0 ? { targetChains, onchain } : null;
  return {
    kind: 'commit',
    effects: { entry, durationMs: elapsed(), pushes, llm: evidence?.llm ?? null },
    answer: (sealed) => ({ reply: answerOf(sealed, resolved.binding) }),
  };
}

const answerOf = (entry: SealedEntry, binding: Binding): ExecutionAnswer => ({
  historyId: entry.id,
  seq: entry.seq,
  event: binding.event,
  eventVersion: binding.eventVersion,
  stateChanges: stateChangesOf(entry.changes),
  result: entry.result,
  attestation: entry.attestation as JsonObject | null,
  pushes: binding.targetChains.map((chain) => ({ chain, status: 'queued' })),
});

const dryRunAnswer = (
  { binding }: Resolved,
  execution: Execution,
  { changes, result }: Success,
): ItemOutcome<Answer> => ({
  kind: 'answer',
  answer: {
    dryRun: true,
    event: execution.event,
    eventVersion: binding.eventVersion,
    stateChanges: stateChangesOf(changes),
    result,
    prompt: null,
  },
});
