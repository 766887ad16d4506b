import {
  asServiceError,
  type CallContext,
  callerName,
  didYouMean,
  EVALUATOR,
  type ExecutionAnswer,
  type ExecutionTrigger,
  type ExpectedBinding,
  type JsonObject,
  MESSAGE_PREFIX,
  type OfferedPayment,
  type Recorded,
  ServiceError,
  type WorldTexts,
} from '@orrery/contracts';
import { timestampOf } from '@orrery/service-kit';
import { noChanges } from '../../core/deciding/check-changes.js';
import type { CompiledDefinition, Decision, Execution, Success } from '../../core/deciding/execution.js';
import { recordTimers } from '../../core/deciding/follow-ups.js';
import { type Replay, seenOf } from '../../core/deciding/replayed-entry.js';
import {
  answerOf,
  executionErrorOf,
  type JournalEntryDraft,
  type SealedEntry,
  uuidV7,
} from '../../core/entries/entry.js';
import { defaultModelId, type Evidence, type ModelList } from '../../core/models/model.js';
import type { Payment } from '../../core/payments/payment.js';
import type { CatalogClient } from '../../lane/catalog/catalog-client.js';
import type { ItemOutcome } from '../../lane/items/work-item.js';
import type { TimerEffects } from '../../store/commit/effects.js';
import { unknownKeys } from '../../store/commit/stage-timers.js';
import {
  type Binding,
  type DeploymentRow,
  type DeploymentState,
  isPaused,
  lockedDefinitionOf,
} from '../../store/state/deployment-state.js';
import type { ExecutedTimer } from '../../store/state/timer-store.js';
import type { RunDependencies } from './run-dependencies.js';

/** One request to execute an event, whoever makes it. */
export interface ExecutionRequest {
  readonly deploymentId: number;
  readonly event: string;
  readonly input: JsonObject;
  readonly trigger: ExecutionTrigger;
  /** The wallet that signed the request; null outside `/app`. */
  readonly walletAddress: string | null;
  /** Of a service: what it knows to be bound. Anything else is refused. */
  readonly expected?: ExpectedBinding | null;
  /** Of a wallet: the payment that it offers, and the address of the call that it pays for. */
  readonly offer?: Offer;
  /** In a what-if fork: the entry of the source that is replayed. */
  readonly replay?: Replay;
  /** The timer that is executed. */
  readonly timer?: ExecutedTimer | undefined;
}

/** What a request executes: the event's binding and the definition of the bound version. */
export interface Resolved {
  readonly binding: Binding;
  readonly definition: CompiledDefinition;
}

/** What the catalog confirmed for an event. */
export interface Confirmed {
  readonly versionId: number;
  /** `undefined`: the catalog has none. */
  readonly definition: CompiledDefinition | undefined;
  /** The deployment was locked before the catalog was called. */
  readonly afterLock: boolean;
  /** The world's texts as they are now, where a decider needs them. */
  readonly texts?: WorldTexts | undefined;
}

/** What a wallet offers for an execution. */
export interface Offer {
  readonly payment: OfferedPayment | null;
  /** The address of the call that is paid for. */
  readonly resource: string;
  /** That is the address of the event itself, with which the extensions of x402 are offered. */
  readonly atEvent?: boolean;
  /** Nobody has signed: who pays is the caller, where the event allows that. */
  readonly byPayer?: boolean;
  /** The same payment once the facilitator has verified it. */
  readonly verified?: Payment;
}

/** The part of a decider's request that comes from the world and the model list. A lock fixes it. */
export interface Briefing {
  readonly world: WorldTexts;
  readonly modelId: string | null;
}

/** Adds the world's texts where a decider needs them. @throws `world_not_found` */
export async function withTexts(
  catalog: CatalogClient,
  { row }: DeploymentState,
  confirmed: Confirmed | undefined,
): Promise<Confirmed | undefined> {
  if (confirmed?.definition?.mutation !== 'ai' || row.mode === 'locked') return confirmed;
  const texts = await catalog.world(row.world_id);
  if (texts === undefined) throw new ServiceError('world_not_found');
  return { ...confirmed, texts };
}

/** The briefing in the deployment's current state; 'prepare' when the texts have not been confirmed. */
export function briefingOf(
  { row }: DeploymentState,
  confirmed: Confirmed | undefined,
  models: ModelList,
  replay?: Replay,
): Briefing | 'prepare' {
  const world = lockedDefinitionOf(row)?.world ?? confirmed?.texts;
  return world === undefined ? 'prepare' : { world, modelId: modelIdOf(row, models, replay) };
}

/** The locked or chosen model, or the default; null where there is none. */
export function modelIdOf(row: DeploymentRow, models: ModelList, replay?: Replay): string | null {
  if (replay !== undefined && replay.aiModelId !== null) return replay.aiModelId;
  const locked = lockedDefinitionOf(row);
  return locked === undefined ? (row.ai_model_id ?? defaultModelId(models)) : locked.aiModelId;
}

export async function confirmVersion(
  catalog: CatalogClient,
  state: DeploymentState,
  { event, replay }: Pick<ExecutionRequest, 'event' | 'replay'>,
): Promise<Confirmed | undefined> {
  const versionId =
    replay === undefined
      ? state.bindings.get(event)?.versionId
      : await catalog.findVersion(state.row.world_id, event, replay.eventVersion);
  if (versionId === undefined) return undefined;
  const afterLock = state.row.mode === 'locked';
  return { versionId, definition: await catalog.version(versionId), afterLock };
}

/**
 * What an event executes now; 'prepare' when another version than the confirmed one is bound or locked by now.
 * @throws `deployment_not_public`, `deployment_paused`, `evaluator_unavailable`, `event_not_bound`, `unknown_event_version`, `binding_changed`,
 * `event_not_public`, `signature_required`
 */
export function resolveEvent(
  state: DeploymentState,
  request: Pick<ExecutionRequest, 'event' | 'expected' | 'trigger' | 'offer' | 'replay'>,
  confirmed: Confirmed | undefined,
): Resolved | 'prepare' {
  const { event, expected, trigger, offer, replay } = request;
  if (replay !== undefined) return resolveReplay(state, event, replay, confirmed);
  if (trigger === 'public' && !state.row.is_public)
    throw new ServiceError('deployment_not_public', 'The owner of the deployment has not published it.');
  if (isPaused(state.row)) throw new ServiceError('deployment_paused');
  refuseOtherEvaluator(state.row);
  const binding = state.bindings.get(event);
  if (binding === undefined)
    throw new ServiceError('event_not_bound', notBound(event, state.bindings.keys()));
  if (confirmed?.versionId !== binding.versionId) return 'prepare';
  const { definition } = confirmed;
  if (definition === undefined) throw new ServiceError('unknown_event_version', 'The bound version is gone.');
  if (isLockedOut(state, binding, definition)) {
    if (!confirmed.afterLock) return 'prepare';
    throw new ServiceError('unknown_event_version', 'The catalog has another version than the locked one.');
  }
  if (expected && !isExpected({ binding, definition }, expected))
    throw new ServiceError('binding_changed', `"${event}" is bound to another version than expected.`);
  if (trigger === 'public' && definition.definition.executionSettings?.visibility !== 'public')
    throw new ServiceError('event_not_public', `The visibility of "${event}" is not "public".`);
  if (offer?.byPayer === true && !mayPayerCall(definition, request))
    throw new ServiceError('signature_required', signatureRequired(state.row.address, event), {
      facts: { expected: `${MESSAGE_PREFIX}${state.row.address}:${event}:` },
    });
  return { binding, definition };
}

/** A what-if fork binds nothing: the entry names the version. */
function resolveReplay(
  { row }: DeploymentState,
  event: string,
  { eventVersion }: Replay,
  confirmed: Confirmed | undefined,
): Resolved {
  if (isPaused(row)) throw new ServiceError('deployment_paused');
  if (confirmed?.definition === undefined)
    throw new ServiceError(
      'unknown_event_version',
      `The event "${event}" has no version ${eventVersion} any more.`,
    );
  const { versionId, definition } = confirmed;
  const never = new Date(0);
  const unbound = {
    id: 0,
    claimRevision: null,
    targetChains: [],
    onchain: null,
    createdAt: never,
    updatedAt: never,
  };
  return { binding: { ...unbound, event, eventVersion, versionId }, definition };
}

/** Whether a payment alone may execute it. */
export const mayPayerCall = (
  definition: CompiledDefinition,
  request: Pick<ExecutionRequest, 'trigger'>,
): boolean =>
  definition.definition.executionSettings?.payerMayCall === true && priceOf(definition, request) > 0;

const signatureRequired = (address: string, event: string): string =>
  `A wallet signs each execution of this event: send "wallet", "message" and "signature". The message is ` +
  `"${MESSAGE_PREFIX}${address}:${event}:" followed by the current time in milliseconds.`;

const MAX_LISTED = 10;

function notBound(event: string, bound: Iterable<string>): string {
  const events = [...bound];
  const meant = didYouMean(event, events);
  const isShort = events.length > 0 && events.length <= MAX_LISTED;
  const all = meant === '' && isShort ? ` Bound are: ${events.join(', ')}.` : '';
  return `The event "${event}" is not bound in this deployment.${meant}${all} Its owner binds events with POST …/event-bindings.`;
}

/** A locked deployment runs by the rules that it was locked with, or not at all. */
function refuseOtherEvaluator(row: DeploymentRow): void {
  const { evaluator = 1 } = lockedDefinitionOf(row) ?? { evaluator: EVALUATOR };
  if (evaluator !== EVALUATOR)
    throw new ServiceError(
      'evaluator_unavailable',
      `The deployment was locked with revision ${evaluator} of the rules, and this release has revision ${EVALUATOR}.`,
      { facts: { locked: evaluator, available: EVALUATOR } },
    );
}

const isExpected = (
  { binding, definition }: Resolved,
  { bindingId, eventVersion, versionHash }: ExpectedBinding,
): boolean =>
  (bindingId === undefined || bindingId === binding.id) &&
  eventVersion === binding.eventVersion &&
  versionHash === definition.definition.versionHash;

function isLockedOut(
  { row }: DeploymentState,
  { event }: Binding,
  { definition: { versionHash } }: CompiledDefinition,
): boolean {
  const locked = lockedDefinitionOf(row);
  if (locked === undefined) return false;
  return locked.bindings.find((bound) => bound.event === event)?.versionHash !== versionHash;
}

/** US dollars that the request costs: only wallets pay. */
export const priceOf = (
  definition: CompiledDefinition | undefined,
  { trigger }: Pick<ExecutionRequest, 'trigger'>,
): number => (trigger === 'public' ? (definition?.definition.executionSettings?.priceUsd ?? 0) : 0);

/** A resolved request as `core/deciding` decides it. */
export const executionOf = (
  { definition }: Pick<Resolved, 'definition'>,
  { row, head, runs }: DeploymentState,
  { event, input, trigger, walletAddress, replay, timer }: ExecutionRequest,
  { caller }: Pick<CallContext, 'caller'>,
  limits: RunDependencies['limits'],
  now: number,
): Execution => ({
  definition,
  deployment: { address: row.address, worldAddress: row.world_address },
  instanceCount: {
    before: (head.totals['instances'] ?? 0) + runs.room,
    limit: limits.instancesPerDeployment,
  },
  limits,
  event,
  input,
  caller,
  trigger,
  walletAddress,
  now,
  timestamp: timestampOf(now),
  seen: replay && seenOf(replay),
  ...(timer && { recorded: { cause: timer.cause, depth: timer.depth } }),
});

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
    evaluator: EVALUATOR,
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
  const told = isPaid ? withRefundDue(error) : error;
  const outcome: Outcome = {
    status: 'failed',
    changes: noChanges(),
    result: null,
    error: executionErrorOf(told),
    recorded,
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
    const needs = unknownKeys(state, planned, { tree: timer?.tree, ends: timer === undefined ? 0 : 1 });
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
  if ('error' in set) return failedOutcome(resolved, execution, set.error, details);
  const { elapsed, evidence } = details;
  const { targetChains, onchain } = resolved.binding;
  const entry = draftOf(resolved, execution, details, {
    status: 'succeeded',
    changes,
    result,
    error: null,
    recorded,
  });
  const pushes = targetChains.length > 0 ? { targetChains, onchain } : null;
  const timers = followUps?.length ? recordTimers(entry.id, followUps) : undefined;
  return {
    kind: 'commit',
    effects: {
      entry: timers === undefined ? entry : { ...entry, recorded: { ...entry.recorded, timers } },
      durationMs: inMicroseconds(elapsed()),
      pushes,
      llm: evidence?.llm ?? null,
      ...set,
    },
    answer: (sealed) => ({ reply: answerOf(sealed, resolved.binding.targetChains) }),
  };
}
