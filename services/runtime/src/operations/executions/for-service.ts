import {
  type AcceptedExecution,
  type acknowledgeRpcs,
  type CallContext,
  canonicalHash,
  type ErrorReply,
  type ExecutionAnswer,
  fromErrorReply,
  type Handlers,
  type JsonObject,
  type RequestOf,
  ServiceError,
  type ServiceExecution,
  type serviceExecutionRpcs,
} from '@orrery/contracts';
import { executionErrorOf } from '../../core/entries/entry.js';
import type { WorkItem } from '../../lane/items/work-item.js';
import { ANSWER_MARGIN_MS, awaitRun, execute } from '../../runs/execute/execute.js';
import { deploymentAt, type KnownDeployment } from '../../store/deployments/deployment-directory.js';
import { acknowledgeOccurrences, readUsedKeys, type StoredOutcome } from '../../store/runs/once-store.js';
import type { RuntimeContext } from '../context.js';

type Rpcs = typeof serviceExecutionRpcs;
type ForService = RequestOf<Rpcs['executions.forService']>;
type OutcomeOf = RequestOf<Rpcs['executions.outcomeOf']>;

/** At the owner. @throws NotOwner */
export const serviceExecutions = (context: RuntimeContext): Handlers<Rpcs> => ({
  'executions.forService': async (request, call) => {
    refuseOthers(call);
    const deployment = await deploymentAt(context.directory, request.deployment);
    return executeForService(context, deployment, request, call);
  },
  'executions.outcomeOf': async (request, call) => {
    refuseOthers(call);
    const deployment = await deploymentAt(context.directory, request.deployment);
    return outcomeOf(context, deployment, request, call);
  },
});

export const acknowledgements = ({ db }: RuntimeContext): Handlers<typeof acknowledgeRpcs> => ({
  'executions.acknowledge': async ({ occurrences }, call) => {
    refuseOthers(call);
    await acknowledgeOccurrences(db, occurrences);
    return null;
  },
});

function refuseOthers({ caller }: CallContext): void {
  if (caller.kind !== 'schedule')
    throw new ServiceError('forbidden', 'Only a schedule executes in this way.');
}

async function executeForService(
  context: RuntimeContext,
  { id: deploymentId }: KnownDeployment,
  { event, input, trigger, keys, expected }: ForService,
  call: CallContext,
): Promise<ServiceExecution> {
  const request = { deploymentId, event, input, trigger, walletAddress: null, expected };
  const requestHash = canonicalHash({ deploymentId, event, input, trigger });
  const options = { once: { keys, requestHash }, asynchronous: false, outlivesCall: true };
  const early = { ...call, deadline: call.deadline - ANSWER_MARGIN_MS };
  let runId: string | undefined;
  const onAccepted = (id: string) => {
    runId = id;
  };
  try {
    const answer = await execute(context, request, { ...options, onAccepted }, early);
    if (!('executionId' in answer)) return succeeded(answer);
    return call.leavesRun === true
      ? running(answer.executionId)
      : await ofOtherRequest(context, answer, early);
  } catch (error) {
    return runId !== undefined && isLate(error) ? running(runId) : failed(error);
  }
}

/** The run that another request with the same keys began: this one waits for it too. */
async function ofOtherRequest(
  context: RuntimeContext,
  { executionId }: AcceptedExecution,
  call: CallContext,
): Promise<ServiceExecution> {
  try {
    const answer = await awaitRun(context, executionId, Promise.resolve(), call);
    return 'executionId' in answer ? running(executionId) : succeeded(answer);
  } catch (error) {
    return isLate(error) ? running(executionId) : failed(error);
  }
}

const isLate = (error: unknown): boolean =>
  error instanceof ServiceError && error.code === 'deadline_exceeded' && !('historyId' in error.facts);

const running = (executionId: string): ServiceExecution => ({ state: 'running', executionId });

const succeeded = (answer: ExecutionAnswer): ServiceExecution => {
  const { historyId, seq } = answer;
  return { state: 'ended', status: 'succeeded', historyId, seq, answer };
};

/** A failed execution has an entry. @throws what is a refusal */
function failed(error: unknown): ServiceExecution {
  if (!(error instanceof ServiceError) || typeof error.facts['historyId'] !== 'string') throw error;
  const { historyId, seq, ...facts } = error.facts;
  const plain = new ServiceError(error.code, error.message, { errors: error.errors, facts });
  const stored = executionErrorOf(plain) as { code: string; detail: string; facts?: JsonObject };
  return { state: 'ended', status: 'failed', historyId: String(historyId), seq: Number(seq), error: stored };
}

async function outcomeOf(
  { db, lanes }: RuntimeContext,
  { id }: KnownDeployment,
  { scope, key }: OutcomeOf,
  call: CallContext,
): Promise<ServiceExecution | { state: 'unknown' }> {
  await lanes.submit(afterAllBefore(id, call)).catch(unlessDeleted);
  const [used] = await readUsedKeys(db, [{ scope, key }]);
  if (used === undefined || used.isForgotten === true) return { state: 'unknown' };
  if (used.reply === null) return running(used.run_id ?? '');
  // Stored by `stageOnceKeys`.
  const outcome = used.reply as unknown as StoredOutcome;
  return 'error' in outcome
    ? failed(fromErrorReply(outcome.error as ErrorReply))
    : succeeded(outcome.reply as unknown as ExecutionAnswer);
}

/** The outcome of a key stays when its deployment is deleted. */
function unlessDeleted(error: unknown): void {
  if (!(error instanceof ServiceError) || error.code !== 'deployment_not_found') throw error;
}

/** Settled once all that was queued before it is committed. */
const afterAllBefore = (deploymentId: number, { deadline, signal }: CallContext): WorkItem<null> => ({
  deploymentId,
  deadline,
  signal,
  prepare: () => undefined,
  decide: () => ({ kind: 'answer', answer: null }),
});
