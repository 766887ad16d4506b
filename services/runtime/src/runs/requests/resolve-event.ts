import {
  type CallContext,
  didYouMean,
  EVALUATOR,
  type Evaluator,
  type ExecutionTrigger,
  type ExpectedBinding,
  isEvaluator,
  type JsonObject,
  MESSAGE_PREFIX,
  type OfferedPayment,
  ServiceError,
  type WorldTexts,
} from '@orrery/contracts';
import type { CompiledDefinition, Execution, RandomSource } from '@orrery/deciding';
import { timestampOf } from '@orrery/service-kit';
import { type Replay, replayFacts, seenOf } from '../../core/deciding/replayed-entry.js';
import type { Payment } from '../../core/payments/payment.js';
import { defaultModelId, type ModelList } from '../../core/prompting/model.js';
import type { CatalogClient } from '../../lane/catalog/catalog-client.js';
import {
  type Binding,
  type DeploymentRow,
  type DeploymentState,
  lockedDefinitionOf,
  refusePaused,
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
  const { world_id: worldId, mode } = state.row;
  const recorded = replay && (await recordedVersion(catalog, worldId, replay));
  if (recorded !== undefined) return recorded;
  const bound =
    replay === undefined
      ? state.bindings.get(event)
      : await namedVersion(catalog, worldId, event, replay.eventVersion);
  if (bound === undefined) return undefined;
  const afterLock = mode === 'locked';
  return { versionId: bound.versionId, definition: await catalog.version(worldId, bound), afterLock };
}

/** What was executed, also where its version is changed or deleted by now; `undefined` where it was not kept. */
async function recordedVersion(
  catalog: CatalogClient,
  worldId: number,
  { versionHash }: Replay,
): Promise<Confirmed | undefined> {
  if (versionHash === undefined) return undefined;
  const definition = await catalog.recorded(worldId, versionHash);
  return definition && { versionId: NO_VERSION, definition, afterLock: false };
}

/** In place of the id of a row of the catalog. */
const NO_VERSION = 0;

/** A version that need not be bound. */
export async function namedVersion(
  catalog: CatalogClient,
  worldId: number,
  event: string,
  eventVersion: number,
): Promise<Pick<Binding, 'versionId' | 'event' | 'eventVersion'> | undefined> {
  const versionId = await catalog.findVersion(worldId, event, eventVersion);
  return versionId === undefined ? undefined : { versionId, event, eventVersion };
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
  refusePaused(state.row);
  evaluatorOf(state.row);
  const binding = state.bindings.get(event);
  if (binding === undefined)
    throw new ServiceError(
      'event_not_bound',
      trigger === 'public' ? notOffered(event, state.row.address) : notBound(event, state.bindings.keys()),
    );
  if (confirmed?.versionId !== binding.versionId) return 'prepare';
  const { definition } = confirmed;
  if (definition === undefined) throw new ServiceError('unknown_event_version', boundVersionGone(binding));
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

const boundVersionGone = ({ event, eventVersion }: Binding): string =>
  `The catalog does not have version ${eventVersion} of "${event}" any more, which is bound. The owner of the deployment binds another one with PUT …/event-bindings.`;

/** A what-if fork binds nothing: the entry names the version. */
function resolveReplay(
  { row }: DeploymentState,
  event: string,
  { eventVersion }: Replay,
  confirmed: Confirmed | undefined,
): Resolved {
  refusePaused(row);
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

/** Which others are bound strangers are not told: not all of them are public. */
const notOffered = (event: string, address: string): string =>
  `The event "${event}" is not bound in this deployment. GET /app/deployments/${address} lists the events that anyone may execute.`;

const MAX_LISTED = 10;

function notBound(event: string, bound: Iterable<string>): string {
  const events = [...bound];
  const meant = didYouMean(event, events);
  const isShort = events.length > 0 && events.length <= MAX_LISTED;
  const all = meant === '' && isShort ? ` Bound are: ${events.join(', ')}.` : '';
  return `The event "${event}" is not bound in this deployment.${meant}${all} Its owner binds events with POST …/event-bindings.`;
}

/** A locked deployment runs by the rules that it was locked with, or not at all. @throws `evaluator_unavailable` */
function evaluatorOf(row: DeploymentRow): Evaluator {
  const locked = lockedDefinitionOf(row);
  if (locked === undefined) return EVALUATOR;
  const { evaluator = 1 } = locked;
  if (isEvaluator(evaluator)) return evaluator;
  throw new ServiceError(
    'evaluator_unavailable',
    `The deployment was locked with revision ${evaluator} of the rules, and this release has those up to ${EVALUATOR}.`,
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

/** A resolved request as `core/deciding` decides it. @throws `evaluator_unavailable` */
export const executionOf = (
  { definition }: Pick<Resolved, 'definition'>,
  { row, head, runs }: DeploymentState,
  { event, input, trigger, walletAddress, replay, timer }: ExecutionRequest,
  { caller }: Pick<CallContext, 'caller'>,
  limits: RunDependencies['limits'],
  now: number,
  randomness?: RandomSource,
): Execution => ({
  evaluator: replay?.evaluator ?? evaluatorOf(row),
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
  randomness,
  ...(replay?.entry && { recorded: replayFacts(replay.entry) }),
  ...(timer && { recorded: { cause: timer.cause, depth: timer.depth } }),
});
