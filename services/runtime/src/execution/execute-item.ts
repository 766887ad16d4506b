import {
  type CallContext,
  callerName,
  type DryRunAnswer,
  type ErrorCode,
  type ExecutionAnswer,
  type ExecutionTrigger,
  type JsonObject,
  ServiceError,
} from '@orrery/contracts';
import type { CatalogClient } from '../catalog/catalog-client.js';
import { uuidV7 } from '../ids/uuid-v7.js';
import type { SealedEntry } from '../journal/entry.js';
import { executionErrorOf } from '../journal/entry-error.js';
import { stateChangesOf } from '../journal/fold-changes.js';
import { type Binding, type DeploymentState, isPaused } from '../lanes/deployment-state.js';
import type { Decision, WorkItem } from '../lanes/work-item.js';
import { noChanges } from './check-changes.js';
import type { CompiledDefinition } from './compiled-definition.js';
import { decideExecution, type ExecutionRun, type Success } from './execute-event.js';
import { refuseTooManyInstances } from './instance-limit.js';

/** One request to execute an event. */
export interface ExecutionRequest {
  readonly deploymentId: number;
  readonly event: string;
  readonly input: JsonObject;
  readonly trigger: ExecutionTrigger;
  readonly walletAddress: string | null;
  readonly dryRun: boolean;
}

export interface ExecuteDependencies {
  readonly catalog: Pick<CatalogClient, 'version'>;
  readonly limits: { readonly instancesPerDeployment: number };
}

type Answer = ExecutionAnswer | DryRunAnswer;

/** What a run was decided by. */
interface Resolved {
  readonly binding: Binding;
  readonly definition: CompiledDefinition;
}

/**
 * An execution that waits for nothing outside: its definition is confirmed while it is prepared, and the whole of
 * read → decide → apply → check happens in the lane, against what the item before it left.
 */
export function executeItem(
  { catalog, limits }: ExecuteDependencies,
  request: ExecutionRequest,
  call: CallContext,
): WorkItem<Answer> {
  const startedAt = performance.now();
  let prepared: { versionId: number; definition: CompiledDefinition | undefined } | undefined;
  return {
    deploymentId: request.deploymentId,
    deadline: call.deadline,
    signal: call.signal,
    prepare: async (state) => {
      const versionId = state.bindings.get(request.event)?.versionId;
      prepared =
        versionId === undefined ? undefined : { versionId, definition: await catalog.version(versionId) };
    },
    decide: (state, _ids, now) => {
      if (isPaused(state.row)) return refuse('deployment_paused');
      const binding = state.bindings.get(request.event);
      if (binding === undefined) return refuse('event_not_bound', `"${request.event}" is not bound here`);
      if (prepared?.versionId !== binding.versionId) return { kind: 'prepare' };
      const { definition } = prepared;
      if (definition === undefined) return refuse('unknown_event_version', 'the bound version is gone');
      if (definition.mutation === 'ai') return refuse('unavailable', 'no AI model can be reached');
      const run = runOf({ binding, definition }, state, request, call, now);
      return decided({ binding, definition }, state, run, limits, () => performance.now() - startedAt);
    },
  };
}

const refuse = (code: ErrorCode, detail?: string): Decision<Answer> => ({
  kind: 'refuse',
  error: new ServiceError(code, detail),
});

const runOf = (
  { definition }: Resolved,
  { row }: DeploymentState,
  { event, input, trigger, walletAddress, dryRun }: ExecutionRequest,
  { caller }: CallContext,
  now: number,
): ExecutionRun => ({
  definition,
  deployment: { address: row.address, worldAddress: row.world_address },
  event,
  input,
  caller,
  trigger,
  walletAddress,
  now,
  dryRun,
});

function decided(
  resolved: Resolved,
  state: DeploymentState,
  run: ExecutionRun,
  limits: ExecuteDependencies['limits'],
  elapsed: () => number,
): Decision<Answer> {
  const decision = refuseTooManyInstances(decideExecution(run, state.instances), state, limits);
  switch (decision.kind) {
    case 'needs':
      return { kind: 'needs', needs: decision };
    case 'refused':
      return { kind: 'refuse', error: decision.error };
    case 'failed':
      return run.dryRun
        ? { kind: 'refuse', error: decision.error }
        : failed(resolved, run, decision.error, elapsed());
    case 'succeeded':
      return run.dryRun
        ? dryRunAnswer(resolved, run, decision)
        : succeeded(resolved, run, decision, elapsed());
  }
}

function draftOf({ binding, definition }: Resolved, run: ExecutionRun) {
  return {
    deployment: run.deployment.address,
    id: uuidV7(run.now),
    kind: 'execution' as const,
    event: run.event,
    eventVersion: binding.eventVersion,
    versionHash: definition.definition.versionHash,
    trigger: run.trigger,
    caller: callerName(run.caller),
    input: run.input,
    llmHash: null,
    attestation: null,
    paymentKey: null,
    executedAt: new Date(run.now).toISOString(),
  };
}

/** From *read* on a failure leaves an entry with its reason, and changes no instance. */
function failed(
  resolved: Resolved,
  run: ExecutionRun,
  error: ServiceError,
  durationMs: number,
): Decision<Answer> {
  const outcome = {
    status: 'failed' as const,
    changes: noChanges(),
    result: null,
    error: executionErrorOf(error),
  };
  const entry = { ...draftOf(resolved, run), ...outcome };
  return {
    kind: 'commit',
    effects: { entry, durationMs },
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
  run: ExecutionRun,
  { changes, result }: Success,
  durationMs: number,
): Decision<Answer> {
  const { targetChains, onchain } = resolved.binding;
  const entry = { ...draftOf(resolved, run), status: 'succeeded' as const, changes, result, error: null };
  const pushes = targetChains.length > 0 ? { targetChains, onchain } : null;
  return {
    kind: 'commit',
    effects: { entry, durationMs, pushes },
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
  attestation: null,
  pushes: binding.targetChains.map((chain) => ({ chain, status: 'queued' })),
});

const dryRunAnswer = (
  { binding }: Resolved,
  run: ExecutionRun,
  { changes, result }: Success,
): Decision<Answer> => ({
  kind: 'answer',
  answer: {
    dryRun: true,
    event: run.event,
    eventVersion: binding.eventVersion,
    stateChanges: stateChangesOf(changes),
    result,
    prompt: null,
  },
});
