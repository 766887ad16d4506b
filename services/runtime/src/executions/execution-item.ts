import {
  type AcceptedExecution,
  type CallContext,
  didYouMean,
  type ExecutionAnswer,
  type ExpectedBinding,
  ServiceError,
} from '@orrery/contracts';
import type { KeyedRequest } from '@orrery/database';
import { type Clock, timestampOf } from '@orrery/service-kit';
import type { CatalogClient } from '../catalog/catalog-client.js';
import type { Db } from '../database/db.js';
import type { CompiledDefinition } from '../execution/compiled-definition.js';
import { decideExecution } from '../execution/execute-event.js';
import type { Execution, ExecutionLimits } from '../execution/execution.js';
import { keyedItem } from '../idempotency/keyed-item.js';
import type { Decider } from '../models/decider.js';
import { type ModelList, usableModel } from '../models/model-list.js';
import { type FindUse, type OnceRequest, onceItem } from '../once/once-item.js';
import type { Payment } from '../payments/payment.js';
import type { Payments } from '../payments/payments.js';
import {
  type Binding,
  type DeploymentState,
  isPaused,
  lockedDefinitionOf,
} from '../state/deployment-state.js';
import type { WorkItem } from '../state/work-item.js';
import { acceptRun } from './accept-run.js';
import { modelIdOf } from './briefing.js';
import { conclude } from './conclude.js';
import type { Confirmed, ExecutionRequest, Resolved } from './execution-request.js';
import { decidedBy, type PaymentToVerify, payFirst } from './pay-first.js';
import { acceptedAnswer } from './run-row.js';

export interface ResolveDependencies {
  readonly catalog: Pick<CatalogClient, 'version'>;
  readonly limits: ExecutionLimits & { readonly instancesPerDeployment: number };
}

export interface ExecutionItemDependencies extends ResolveDependencies {
  readonly db: Db;
  readonly findUse: FindUse;
  readonly clock: Clock;
  readonly models: Pick<ModelList, 'default' | 'find'>;
  /** Time limit of a run whose caller waits, in milliseconds; it may be longer than the call's. */
  readonly aiDeadlineMs: number;
  readonly payments: Pick<Payments, 'requirements' | 'prepare' | 'read'>;
  readonly decider: Pick<Decider, 'refuseCrowd'>;
}

export interface ExecutionOptions {
  /** The id of the run if the execution becomes one. */
  readonly runId: string;
  readonly keyed?: KeyedRequest | undefined;
  readonly once?: OnceRequest | undefined;
  /** The caller does not wait: the execution becomes a run, whatever decides it. */
  readonly asynchronous: boolean;
  /** The caller waits, but a run goes on without it. */
  readonly outlivesCall?: boolean;
}

/** Time limit of an asynchronous execution, in milliseconds. */
const ASYNC_TIMEOUT_MS = 10 * 60_000;

/**
 * One execution as an item of its deployment's lane. The definition is confirmed while the item is prepared; read →
 * decide → apply → check happen in the lane, against the state that the previous item left. An execution that needs a
 * decider, or is asynchronous, becomes a run: the item then commits the run's row, which claims the
 * Idempotency-Key, and answers with the run's id.
 */
export function executionItem(
  dependencies: ExecutionItemDependencies,
  request: ExecutionRequest,
  { runId, keyed, once, asynchronous, outlivesCall = asynchronous }: ExecutionOptions,
  call: CallContext,
): WorkItem<ExecutionAnswer | AcceptedExecution | PaymentToVerify> {
  const { catalog, clock, models, limits, aiDeadlineMs, payments, decider } = dependencies;
  const startedAt = performance.now();
  let confirmed: Confirmed;
  const deadline = clock.now() + (outlivesCall ? ASYNC_TIMEOUT_MS : aiDeadlineMs);
  const { caller, callId } = call;
  const accept = (state: DeploymentState, now: number) =>
    acceptRun(state, { id: runId, request, caller, callId, keyed, once, asynchronous, deadline }, now);
  const acceptPaid = (state: DeploymentState, now: number, payment: Payment) => {
    const paid = { payment, deadline: Math.min(now + aiDeadlineMs, decidedBy(payment)) };
    return acceptRun(state, { id: runId, request, caller, callId, keyed, once, asynchronous, ...paid }, now);
  };
  const item: WorkItem<ExecutionAnswer | AcceptedExecution | PaymentToVerify> = {
    deploymentId: request.deploymentId,
    deadline: call.deadline,
    signal: call.signal,
    prepare: async (state) => {
      const confirming = confirmVersion(catalog, state, request.event);
      // A catalog that is away is waited for by the run.
      confirmed = await (asynchronous ? confirming.catch(() => undefined) : confirming);
      if (
        request.offer !== undefined &&
        priceOf(confirmed?.definition, request) > 0 &&
        state.row.pay_to_address
      )
        await payments.prepare(state.row.pay_to_address);
    },
    decide: (state, _ids, now) => {
      const resolved = resolveEvent(state, request, confirmed);
      if (asynchronous && confirmed === undefined) return accept(state, now);
      if (resolved === 'prepare') return { kind: 'prepare' };
      const isAi = resolved.definition.mutation === 'ai';
      if (isAi) {
        const { record } = usableModel(models, modelIdOf(state.row, models));
        decider.refuseCrowd?.(state.row.owner_account_id, record.modelId);
      }
      if (asynchronous) return accept(state, now);
      const execution = executionOf(resolved, state, request, call, limits, now);
      const priceUsd = priceOf(resolved.definition, request);
      if (priceUsd > 0 && request.offer !== undefined) {
        const context = { execution, state, offer: request.offer, priceUsd, now };
        return payFirst(payments, context, (payment) => acceptPaid(state, now, payment));
      }
      if (isAi) return accept(state, now);
      const decision = decideExecution(execution, state.instances);
      return conclude(resolved, execution, decision, { elapsed: () => performance.now() - startedAt });
    },
  };
  const withKey = keyedItem(dependencies.db, item, keyed, asynchronous ? acceptedAnswer : undefined);
  const withKeys = once === undefined ? withKey : onceItem(dependencies.findUse, withKey, once);
  return {
    ...withKeys,
    // If the commit's answer was lost, this item is decided again and its run already exists. The item answers with that
    // run; otherwise it would be refused because of its own key.
    decide: (state, ids, now) =>
      state.runs.has(runId)
        ? { kind: 'answer', answer: acceptedAnswer(runId) }
        : withKeys.decide(state, ids, now),
  };
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

/** At most this many bound events are listed in an error. */
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

/** Whether the deployment is locked and its lock holds another definition than this one. */
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
const priceOf = (
  definition: CompiledDefinition | undefined,
  { trigger }: Pick<ExecutionRequest, 'trigger'>,
): number => (trigger === 'public' ? (definition?.definition.executionSettings?.priceUsd ?? 0) : 0);

/** A resolved request as `execution/` decides it. */
export const executionOf = (
  { definition }: Pick<Resolved, 'definition'>,
  { row, head, runs }: DeploymentState,
  { event, input, trigger, walletAddress }: ExecutionRequest,
  { caller }: Pick<CallContext, 'caller'>,
  limits: ResolveDependencies['limits'],
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
