import {
  asServiceError,
  type CallContext,
  type DryRunAnswer,
  isJsonObject,
  type JsonObject,
  ServiceError,
  type VersionBody,
} from '@orrery/contracts';
import {
  applyMutation,
  type CompiledDefinition,
  type Decision,
  decideExecution,
  type Execution,
  readForExecution,
  recallFor,
  stateChangesOf,
  uuidV7,
  withFailedCode,
} from '@orrery/deciding';
import {
  type CheckProposal,
  type DeciderFailed,
  type DeciderRequest,
  type Evidence,
  refuseUnknownModel,
} from '../../core/prompting/model.js';
import type { ItemOutcome, WorkItem } from '../../lane/items/work-item.js';
import { type DeploymentState, refusePaused } from '../../store/state/deployment-state.js';
import { sourceForNothing } from '../requests/randomness.js';
import {
  type Briefing,
  briefingOf,
  type Confirmed,
  confirmVersion,
  type ExecutionRequest,
  executionOf,
  namedVersion,
  resolveEvent,
  withTexts,
} from '../requests/resolve-event.js';
import type { RunDependencies } from '../requests/run-dependencies.js';
import {
  callDecider,
  deciderRequestOf,
  toldOf,
  type UncheckedRequest,
  verdictOf,
  withTold,
} from '../steps/ask-decider.js';

interface Tried {
  /** Another version than the bound one. */
  readonly eventVersion?: number | undefined;
  /** Another model than the deployment's, and where the request names it. */
  readonly aiModelId?: string | undefined;
  readonly modelPointer?: string;
  /** A version that is not saved. */
  readonly definition?: VersionBody;
}

/**
 * Decides an execution as it would be decided now and commits nothing: no entry, no run, no key. A model is called as
 * for an execution, and its cost counts. What it answers is applied to the instances as they are then.
 * @throws ServiceError that the execution would fail with; for a version that a model decides, the fact `llm` is what
 * the entry would have recorded
 */
export async function dryRun(
  dependencies: RunDependencies,
  request: ExecutionRequest,
  tried: Tried,
  call: CallContext,
): Promise<DryRunAnswer> {
  const { lanes, clock } = dependencies;
  const submit = <T>(decide: (context: Context) => ItemOutcome<T>) =>
    lanes.submit(dryRunItem(dependencies, request, { tried, confirm }, call, decide));
  const confirm = createConfirmation(dependencies, request, tried);
  refuseUnknownModel(dependencies.models, tried.aiModelId, tried.modelPointer ?? '#query/aiModelId');
  const named = { executionId: uuidV7(clock.now()), deadline: call.deadline, isHolding: false };
  const first = await submit((context) => readOrDecide(context, dependencies, named));
  if ('dryRun' in first) return first;
  const check: CheckProposal = (mutation) =>
    submit((context) => verdictOf(applied(context, first.request, mutation))).catch(() => undefined);
  const answer = await callDecider(dependencies, { ...first.request, check }, call.signal).catch(
    (error: DeciderFailed) => failWith(error.cause, error.evidence),
  );
  const { mutation } = answer;
  return submit((context) => answerOf(context, applied(context, first.request, mutation), answer)).catch(
    (error: unknown) => failWith(error, answer),
  );
}

interface Context {
  readonly execution: Execution;
  readonly state: DeploymentState;
  readonly briefing: Briefing | 'prepare';
}

function dryRunItem<T>(
  { catalog, limits, models }: RunDependencies,
  request: ExecutionRequest,
  { tried: { eventVersion, aiModelId, definition: draft }, confirm }: { tried: Tried; confirm: Confirmation },
  call: CallContext,
  decide: (context: Context) => ItemOutcome<T>,
): WorkItem<T> {
  let confirmed: Confirmed | undefined;
  return {
    deploymentId: request.deploymentId,
    deadline: call.deadline,
    signal: call.signal,
    prepare: async (state) => {
      confirmed = await withTexts(catalog, state, await confirm(state));
    },
    decide: (state, _ids, now) => {
      const resolved =
        eventVersion === undefined && draft === undefined
          ? resolveEvent(state, request, confirmed)
          : resolveTried(state, confirmed);
      if (resolved === 'prepare') return { kind: 'prepare' };
      const { definition } = resolved;
      const randomness = definition.draws ? sourceForNothing() : undefined;
      const execution = executionOf({ definition }, state, request, call, limits, now, randomness);
      const briefing = briefingOf(state, confirmed, models);
      const tried =
        briefing === 'prepare' || aiModelId === undefined ? briefing : { ...briefing, modelId: aiModelId };
      return decide({ execution, state, briefing: tried });
    },
  };
}

type Confirmation = (state: DeploymentState) => Promise<Confirmed | undefined>;

/** What is tried, as it is now; a version that is not saved is checked once. */
function createConfirmation(
  { catalog }: RunDependencies,
  { event }: ExecutionRequest,
  { eventVersion, definition: draft }: Tried,
): Confirmation {
  let drafted: Promise<Confirmed> | undefined;
  return (state) => {
    if (draft === undefined) return confirmTried(catalog, state, event, eventVersion);
    drafted ??= catalog
      .draft(state.row.world_id, event, draft)
      .then((definition) => ({ versionId: 0, definition, afterLock: true }));
    return drafted;
  };
}

async function confirmTried(
  catalog: RunDependencies['catalog'],
  state: DeploymentState,
  event: string,
  version: number | undefined,
): Promise<Confirmed | undefined> {
  if (version === undefined) return confirmVersion(catalog, state, { event });
  const { world_id: worldId } = state.row;
  const named = await namedVersion(catalog, worldId, event, version);
  const definition = named && (await catalog.version(worldId, named));
  if (named && definition) return { versionId: named.versionId, definition, afterLock: true };
  const message = `The event "${event}" has no version ${version}.`;
  throw new ServiceError('unknown_event_version', message, {
    errors: [{ pointer: '#query/eventVersion', code: 'unknown_event_version', message }],
  });
}

function resolveTried(
  { row }: DeploymentState,
  confirmed: Confirmed | undefined,
): { readonly definition: CompiledDefinition } | 'prepare' {
  refusePaused(row);
  return confirmed?.definition === undefined ? 'prepare' : { definition: confirmed.definition };
}

function readOrDecide(
  context: Context,
  dependencies: RunDependencies,
  call: Pick<DeciderRequest, 'executionId' | 'deadline' | 'isHolding'>,
): ItemOutcome<DryRunAnswer | { readonly request: UncheckedRequest }> {
  const { execution, state, briefing } = context;
  if (execution.definition.mutation !== 'ai')
    return answerOf(context, decideExecution(execution, state.instances));
  const found = readForExecution(execution, state.instances);
  if (found.kind === 'needs') return { kind: 'needs', needs: found };
  if (found.kind !== 'read') return { kind: 'refuse', error: found.error };
  const recalled = recallFor(execution, found.read, state.instances);
  if (recalled.kind === 'needs') return { kind: 'needs', needs: recalled };
  if (recalled.kind === 'failed') return { kind: 'refuse', error: recalled.error };
  if (briefing === 'prepare') return { kind: 'prepare' };
  const request = deciderRequestOf(dependencies, { ...context, briefing }, recalled.read, call);
  return { kind: 'answer', answer: { request } };
}

function applied({ execution, state }: Context, asked: UncheckedRequest, mutation: JsonObject): Decision {
  const found = readForExecution(execution, state.instances);
  if (found.kind !== 'read') return found;
  return applyMutation(execution, withTold(found.read, toldOf(asked)), mutation, state.instances);
}

function answerOf(
  { execution: { event, definition } }: Context,
  decision: Decision,
  { llm = null, attestation = null }: Partial<Evidence> = {},
): ItemOutcome<DryRunAnswer> {
  if (decision.kind === 'needs') return { kind: 'needs', needs: decision };
  if (decision.kind !== 'succeeded') return { kind: 'refuse', error: withFailedCode(decision.error) };
  const { changes, result } = decision;
  const prompt = llm?.['request'];
  const answer: DryRunAnswer = {
    dryRun: true,
    event,
    eventVersion: definition.definition.version,
    stateChanges: stateChangesOf(changes),
    result,
    attestation,
    prompt: isJsonObject(prompt) ? prompt : null,
    llm,
  };
  return { kind: 'answer', answer };
}

/** The owner sees what the model was asked and answered also where that cannot be applied. */
function failWith(cause: unknown, { llm = null }: Partial<Evidence>): never {
  const error = withFailedCode(asServiceError(cause));
  if (llm === null) throw error;
  const { code, message, errors, facts } = error;
  throw new ServiceError(code, message, { errors, facts: { ...facts, llm }, cause });
}
