import {
  type AcceptedExecution,
  type acknowledgeRpcs,
  type CallContext,
  canonicalHash,
  type draftRpcs,
  type ErrorReply,
  type ExecutionAnswer,
  executionErrorOf,
  type executionRpcs,
  fieldProblem,
  fromErrorReply,
  type Handlers,
  type JsonObject,
  paginationOf,
  type paymentRpcs,
  prefersAsync,
  type RequestOf,
  refusal,
  refuseDeepPage,
  refusedHttp,
  ServiceError,
  type ServiceExecution,
  type serviceExecutionRpcs,
  type solanaPaymentRpcs,
} from '@orrery/contracts';
import { keyedRequest } from '@orrery/database';
import { isUuid } from '@orrery/deciding';
import type { WorkItem } from '../../lane/items/work-item.js';
import type { OwnedHandlers } from '../../lane/ownership/route-to-owner.js';
import { dryRun } from '../../runs/execute/dry-run.js';
import { ANSWER_MARGIN_MS, awaitRun, execute } from '../../runs/execute/execute.js';
import { setTimer } from '../../runs/timers/set-timer.js';
import { deploymentAt, type KnownDeployment } from '../../store/deployments/deployment-directory.js';
import { acknowledgeOccurrences, readUsedKeys, type StoredOutcome } from '../../store/runs/once-store.js';
import { listPayments, totalsOfPayments } from '../../store/runs/payment-store.js';
import {
  acceptedAnswer,
  readRun,
  readRunOfCall,
  recordOfRun,
  requestOf,
} from '../../store/runs/run-store.js';
import type { RuntimeContext } from '../context.js';

type Reads = Pick<typeof executionRpcs, 'executions.get'>;
type Writes = Pick<typeof executionRpcs, 'deployments.execute' | 'executions.ofCall'>;

export function executionWrites(context: RuntimeContext): OwnedHandlers<Writes> {
  return {
    'deployments.execute': async (deployment, { query, headers, body }, call) => {
      const { event, input, after, at, key: timerKey } = body;
      const from = { trigger: 'admin', walletAddress: null } as const;
      const request = { deploymentId: deployment.id, event, input, ...from };
      const isLater = refuseTimes(body, query.dryRun === true);
      const asynchronous = prefersAsync(headers.prefer);
      if (query.dryRun === true) {
        if (asynchronous) throw refusedHttp([fieldProblem('/headers/prefer', 'invalid', NEVER_ASYNC)]);
        return { data: await dryRun(context, request, query, call) };
      }
      for (const name of ['eventVersion', 'aiModelId'] as const)
        if (query[name] !== undefined)
          throw refusedHttp([fieldProblem(`/query/${name}`, 'invalid', ONLY_DRY)]);
      const [operation, key] = [`execute ${deployment.id}`, headers['idempotency-key']];
      const now = context.clock.now();
      const keyed = key === undefined ? undefined : keyedRequest(operation, key, body, call.caller, now);
      if (isLater) {
        const timer = { deploymentId: deployment.id, event, input, after, at, key: timerKey };
        return { data: await setTimer(context, timer, keyed, call) };
      }
      return { data: await execute(context, request, { keyed, asynchronous }, call) };
    },
    'executions.ofCall': async (deployment, { callId }, call) => {
      const { db, runs } = context;
      const row = await readRunOfCall(db, deployment.id, callId);
      if (row === undefined) return { data: null };
      if (requestOf(row).asynchronous) return { data: acceptedAnswer(row.id) };
      const ended = runs.drive(row.id, deployment.id).catch(() => undefined);
      return { data: await awaitRun(context, row.id, ended, call) };
    },
  };
}

export const draftTries = (context: RuntimeContext): OwnedHandlers<typeof draftRpcs> => ({
  'deployments.try': async (deployment, { body: { event, input, ...tried } }, call) => {
    const request = {
      deploymentId: deployment.id,
      event,
      input,
      trigger: 'admin',
      walletAddress: null,
    } as const;
    return { data: await dryRun(context, request, { ...tried, modelPointer: '/aiModelId' }, call) };
  },
});

/** Whether the request is to be executed later. @throws `conflicting_fields`, `validation_failed` */
function refuseTimes(
  { after, at, key }: { after?: string | undefined; at?: string | undefined; key?: string | undefined },
  dryRun: boolean,
): boolean {
  if (after !== undefined && at !== undefined)
    throw new ServiceError('conflicting_fields', 'Give either "after" or "at".', {
      errors: [fieldProblem('/at', 'conflicting_fields', 'Give either "after" or "at".')],
    });
  const isLater = after !== undefined || at !== undefined;
  const pointer = after === undefined ? '/at' : '/after';
  if (isLater && dryRun)
    throw refusal(
      [fieldProblem(pointer, 'invalid', 'A dry run decides now: leave the time out.')],
      'The body',
    );
  if (key !== undefined && !isLater)
    throw refusal([fieldProblem('/key', 'invalid', 'A key needs "after" or "at".')], 'The body');
  return isLater;
}

const ONLY_DRY = 'Another version or model can be tried in a dry run only: add dryRun=true.';
const NEVER_ASYNC =
  'A dry run leaves nothing that could be asked for later: send it without "respond-async".';

export const executionReads = ({ db, access }: RuntimeContext): Handlers<Reads> => ({
  'executions.get': async ({ params }, { caller }) => {
    const deployment = await access.ownedNow(params, caller);
    const row = isUuid(params.executionId) ? await readRun(db, params.executionId) : undefined;
    if (row?.deployment_id !== deployment.id) throw new ServiceError('execution_not_found');
    return { data: recordOfRun(row) };
  },
});

/** Also of a deleted deployment: what was charged stays charged, and a refund may fall due later. */
export const paymentReads = ({ db, access }: RuntimeContext): Handlers<typeof paymentRpcs> => ({
  'payments.list': async ({ params, query }, { caller }) => {
    const { id } = await access.ownedHere(params, caller);
    refuseDeepPage(query);
    const [data, totals] = await Promise.all([listPayments(db, id, query), totalsOfPayments(db, id)]);
    const counted = totals.filter(({ status }) => query.status === undefined || query.status === status);
    const total = counted.reduce((sum, { payments }) => sum + payments, 0);
    return { data, totals, pagination: paginationOf(query, total) };
  },
});

export const solanaPayments = ({ payments }: RuntimeContext): Handlers<typeof solanaPaymentRpcs> => ({
  'payments.solana': async ({ query: { network, asset } }) => ({
    data: await payments.solanaFacts(network, asset),
  }),
});

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
