import {
  type CallContext,
  didYouMean,
  type ExecutionTrigger,
  type ExpectedBinding,
  type JsonObject,
  type OfferedPayment,
  ServiceError,
  type WorldTexts,
} from '@orrery/contracts';
import { type Clock, timestampOf } from '@orrery/service-kit';
import type { CompiledDefinition, Execution, ExecutionLimits } from '../../core/deciding/execution.js';
import { type Decider, defaultModelId, type ModelList } from '../../core/models/model.js';
import type { Payment } from '../../core/payments/payment.js';
import type { CatalogClient } from '../../lane/catalog/catalog-client.js';
import type { Lanes } from '../../lane/queue/lanes.js';
import { type RunRow, requestOf } from '../../store/runs/run-store.js';
import {
  type Binding,
  type DeploymentRow,
  type DeploymentState,
  isPaused,
  lockedDefinitionOf,
} from '../../store/state/deployment-state.js';
import type { Db } from '../../store/tables/schema.js';
import type { Budgets } from '../models/budgets.js';
import type { Payments } from '../payments/payments.js';

export const executionRequestOf = (row: Pick<RunRow, 'deployment_id' | 'request'>): ExecutionRequest => {
  const { event, input, trigger, walletAddress, expected = null } = requestOf(row);
  return { deploymentId: row.deployment_id, event, input, trigger, walletAddress, expected };
};

/** What executions are decided, run and paid for with. */
export interface RunDependencies {
  readonly db: Db;
  readonly lanes: Pick<Lanes, 'submit'>;
  readonly clock: Clock;
  readonly catalog: Pick<CatalogClient, 'version' | 'findVersion' | 'world'>;
  readonly models: ModelList;
  readonly budgets: Pick<Budgets, 'of'>;
  readonly payments: Payments;
  readonly decider: Decider;
  readonly limits: ExecutionLimits & { readonly instancesPerDeployment: number };
  /** Time limit of a run whose caller waits, in milliseconds; it may be longer than the call's. */
  readonly aiDeadlineMs: number;
}

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
}

/** What a request executes: the event's binding and the definition of the bound version. */
export interface Resolved {
  readonly binding: Binding;
  readonly definition: CompiledDefinition;
}

/** The definition that the catalog confirmed for a bound version; `undefined`: the catalog has none. */
export type Confirmed =
  | {
      readonly versionId: number;
      readonly definition: CompiledDefinition | undefined;
      /** The deployment was locked before the catalog was called. */
      readonly afterLock: boolean;
    }
  | undefined;

/** What a wallet offers for an execution. */
export interface Offer {
  readonly payment: OfferedPayment | null;
  /** The address of the call that is paid for. */
  readonly resource: string;
  /** The same payment once the facilitator has verified it. */
  readonly verified?: Payment;
}

/** The part of a decider's request that comes from the world and the model list. A lock fixes it. */
export interface Briefing {
  readonly world: WorldTexts;
  readonly modelId: string | null;
}

/** The world's texts as they are now, where a decider needs them. @throws `world_not_found` */
export async function confirmTexts(
  catalog: Pick<CatalogClient, 'world'>,
  { row }: DeploymentState,
  confirmed: Confirmed,
): Promise<WorldTexts | undefined> {
  if (confirmed?.definition?.mutation !== 'ai' || row.mode === 'locked') return undefined;
  const texts = await catalog.world(row.world_id);
  if (texts === undefined) throw new ServiceError('world_not_found');
  return texts;
}

/** The briefing in the deployment's current state; 'prepare' when the texts have not been confirmed. */
export function briefingOf(
  { row }: DeploymentState,
  confirmed: WorldTexts | undefined,
  models: ModelList,
): Briefing | 'prepare' {
  const world = lockedDefinitionOf(row)?.world ?? confirmed;
  return world === undefined ? 'prepare' : { world, modelId: modelIdOf(row, models) };
}

/** The locked or chosen model, or the default; null where there is none. */
export function modelIdOf(row: DeploymentRow, models: ModelList): string | null {
  const locked = lockedDefinitionOf(row);
  return locked === undefined ? (row.ai_model_id ?? defaultModelId(models)) : locked.aiModelId;
}

export async function confirmVersion(
  catalog: Pick<CatalogClient, 'version'>,
  state: DeploymentState,
  event: string,
): Promise<Confirmed> {
  const versionId = state.bindings.get(event)?.versionId;
  if (versionId === undefined) return undefined;
  const afterLock = state.row.mode === 'locked';
  return { versionId, definition: await catalog.version(versionId), afterLock };
}

/**
 * What an event executes now; 'prepare' when another version than the confirmed one is bound or locked by now.
 * @throws `deployment_not_public`, `deployment_paused`, `event_not_bound`, `unknown_event_version`, `binding_changed`,
 * `event_not_public`
 */
export function resolveEvent(
  state: DeploymentState,
  { event, expected, trigger }: Pick<ExecutionRequest, 'event' | 'expected' | 'trigger'>,
  confirmed: Confirmed,
): Resolved | 'prepare' {
  if (trigger === 'public' && !state.row.is_public)
    throw new ServiceError('deployment_not_public', 'The owner of the deployment has not published it.');
  if (isPaused(state.row)) throw new ServiceError('deployment_paused');
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
  return { binding, definition };
}

const MAX_LISTED = 10;

function notBound(event: string, bound: Iterable<string>): string {
  const events = [...bound];
  const meant = didYouMean(event, events);
  const isShort = events.length > 0 && events.length <= MAX_LISTED;
  const all = meant === '' && isShort ? ` Bound are: ${events.join(', ')}.` : '';
  return `The event "${event}" is not bound in this deployment.${meant}${all} Its owner binds events with POST …/event-bindings.`;
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
  { event, input, trigger, walletAddress }: ExecutionRequest,
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
});
