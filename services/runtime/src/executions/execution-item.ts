import {
  type AcceptedExecution,
  type CallContext,
  type ExpectedBinding,
  ServiceError,
} from '@orrery/contracts';
import type { KeyedRequest } from '@orrery/database';
import type { Clock } from '@orrery/service-kit';
import type { CatalogClient } from '../catalog/catalog-client.js';
import type { Db } from '../database/db.js';
import type { CompiledDefinition } from '../execution/compiled-definition.js';
import { decideExecution } from '../execution/execute-event.js';
import type { Execution } from '../execution/execution.js';
import { keyedItem } from '../idempotency/keyed-item.js';
import { type OnceRequest, onceItem } from '../once/once-item.js';
import {
  type Binding,
  type DeploymentState,
  isPaused,
  lockedDefinitionOf,
} from '../state/deployment-state.js';
import type { WorkItem } from '../state/work-item.js';
import { acceptRun } from './accept-run.js';
import { type Answer, conclude } from './conclude.js';
import type { Decider } from './decider.js';
import type { Confirmed, ExecutionRequest, Resolved } from './execution-request.js';
import { acceptedAnswer } from './run-row.js';

export interface ResolveDependencies {
  readonly catalog: Pick<CatalogClient, 'version'>;
  readonly limits: { readonly instancesPerDeployment: number };
}

export interface ExecutionItemDependencies extends ResolveDependencies {
  readonly db: Db;
  readonly clock: Clock;
  /** Decides the executions of versions that have no template; without it they are refused. */
  readonly decider: Decider | undefined;
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
): WorkItem<Answer | AcceptedExecution> {
  const { catalog, clock, decider, limits } = dependencies;
  const startedAt = performance.now();
  let confirmed: Confirmed;
  const deadline = outlivesCall ? clock.now() + ASYNC_TIMEOUT_MS : call.deadline;
  const accept = (state: DeploymentState, now: number) =>
    acceptRun(
      state,
      { id: runId, request, caller: call.caller, callId: call.callId, keyed, once, asynchronous, deadline },
      now,
    );
  const item: WorkItem<Answer | AcceptedExecution> = {
    deploymentId: request.deploymentId,
    deadline: call.deadline,
    signal: call.signal,
    prepare: async (state) => {
      if (!asynchronous) confirmed = await confirmVersion(catalog, state, request.event);
    },
    decide: (state, _ids, now) => {
      const resolved = resolveEvent(state, request, confirmed);
      if (asynchronous) return accept(state, now);
      if (resolved === 'prepare') return { kind: 'prepare' };
      if (resolved.definition.mutation === 'ai') {
        if (decider !== undefined && !request.dryRun) return accept(state, now);
        throw new ServiceError('unavailable', 'No AI model can be reached.');
      }
      const execution = executionOf(resolved, state, request, call, limits, now);
      const decision = decideExecution(execution, state.instances);
      return conclude(resolved, execution, decision, { elapsed: () => performance.now() - startedAt });
    },
  };
  const withKey = keyed === undefined ? item : keyedItem(dependencies.db, item, keyed);
  const withKeys = once === undefined ? withKey : onceItem(dependencies.db, withKey, once);
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
 * @throws `deployment_paused`, `event_not_bound`, `unknown_event_version`, `binding_changed`
 */
export function resolveEvent(
  state: DeploymentState,
  { event, expected }: Pick<ExecutionRequest, 'event' | 'expected'>,
  confirmed: Confirmed,
): Resolved | 'prepare' {
  if (isPaused(state.row)) throw new ServiceError('deployment_paused');
  const binding = state.bindings.get(event);
  if (binding === undefined) throw new ServiceError('event_not_bound', `"${event}" is not bound here.`);
  if (confirmed?.versionId !== binding.versionId) return 'prepare';
  const { definition } = confirmed;
  if (definition === undefined) throw new ServiceError('unknown_event_version', 'The bound version is gone.');
  if (isLockedOut(state, binding, definition)) {
    if (!confirmed.afterLock) return 'prepare';
    throw new ServiceError('unknown_event_version', 'The catalog has another version than the locked one.');
  }
  if (expected && !isExpected({ binding, definition }, expected))
    throw new ServiceError('binding_changed', `"${event}" is bound to another version than expected.`);
  return { binding, definition };
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

/** A resolved request as `execution/` decides it. */
export const executionOf = (
  { definition }: Resolved,
  { row, head }: DeploymentState,
  { event, input, trigger, walletAddress, dryRun }: ExecutionRequest,
  { caller }: Pick<CallContext, 'caller'>,
  { instancesPerDeployment: limit }: ResolveDependencies['limits'],
  now: number,
): Execution => ({
  definition,
  deployment: { address: row.address, worldAddress: row.world_address },
  instanceCount: { before: head.totals['instances'] ?? 0, limit },
  event,
  input,
  caller,
  trigger,
  walletAddress,
  now,
  dryRun,
});
