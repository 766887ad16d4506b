import {
  type AcceptedExecution,
  type CallContext,
  type ExecutionAnswer,
  type executionRpcs,
  fieldProblem,
  type Handlers,
  prefersAsync,
  refusedHttp,
  ServiceError,
} from '@orrery/contracts';
import { keyedRequest, toCallError } from '@orrery/database';
import type { Clock } from '@orrery/service-kit';
import type { Db } from '../database/db.js';
import type { DeploymentAccess } from '../deployments/deployment-directory.js';
import type { OwnedHandlers } from '../deployments/owned-handlers.js';
import { isUuid, uuidV7 } from '../ids/uuid-v7.js';
import type { Lanes } from '../lanes/lanes.js';
import type { Payments } from '../payments/payments.js';
import { awaitsPayment } from '../state/load-state.js';
import { type DryRunDependencies, dryRun } from './dry-run.js';
import { type ExecutionItemDependencies, type ExecutionOptions, executionItem } from './execution-item.js';
import type { ExecutionRequest } from './execution-request.js';
import type { RunKeeper } from './run-keeper.js';
import {
  acceptedAnswer,
  answerOfRun,
  hasEnded,
  readRun,
  readRunOfCall,
  recordOfRun,
  requestOf,
  unendedAnswer,
} from './run-row.js';
import { verifyPayment } from './verify-payment.js';

type Reads = Pick<typeof executionRpcs, 'executions.get'>;
type Writes = Pick<typeof executionRpcs, 'deployments.execute' | 'executions.ofCall'>;

export interface ExecuteDependencies extends ExecutionItemDependencies {
  readonly lanes: Pick<Lanes, 'submit'>;
  readonly runs: Pick<RunKeeper, 'drive'>;
  readonly payments: Pick<Payments, 'requirements' | 'prepare' | 'read' | 'verify'>;
}

export function executionWrites(
  dependencies: ExecuteDependencies & DryRunDependencies,
): OwnedHandlers<Writes> {
  return {
    'deployments.execute': async (deployment, { query, headers, body }, call) => {
      const request: ExecutionRequest = {
        deploymentId: deployment.id,
        event: body.event,
        input: body.input,
        trigger: 'admin',
        walletAddress: null,
      };
      const asynchronous = prefersAsync(headers.prefer);
      if (query.dryRun === true) {
        if (asynchronous) throw neverAsync();
        return { data: await dryRun(dependencies, request, query, call) };
      }
      const key = headers['idempotency-key'];
      const now = dependencies.clock.now();
      const keyed =
        key === undefined ? undefined : keyedRequest(`execute ${deployment.id}`, key, body, call.caller, now);
      return { data: await execute(dependencies, request, { keyed, asynchronous }, call) };
    },
    'executions.ofCall': async (deployment, { callId }, call) => {
      const { db, runs } = dependencies;
      const row = await readRunOfCall(db, deployment.id, callId);
      if (row === undefined) return { data: null };
      if (requestOf(row).asynchronous) return { data: acceptedAnswer(row.id) };
      const ended = runs.drive(row.id, deployment.id).catch(() => undefined);
      return { data: await awaitRun(dependencies, row.id, ended, call) };
    },
  };
}

const neverAsync = (): ServiceError =>
  refusedHttp([
    fieldProblem(
      '/headers/prefer',
      'invalid',
      'A dry run leaves nothing that could be asked for later: send it without "respond-async".',
    ),
  ]);

export const executionReads = ({
  db,
  access,
}: {
  readonly db: Db;
  readonly access: Pick<DeploymentAccess, 'owned'>;
}): Handlers<Reads> => ({
  'executions.get': async ({ params }, { caller }) => {
    const deployment = await access.owned(params, caller);
    const row = isUuid(params.executionId) ? await readRun(db, params.executionId) : undefined;
    if (row?.deployment_id !== deployment.id) throw new ServiceError('execution_not_found');
    return { data: recordOfRun(row) };
  },
});

export interface ExecuteOptions extends Omit<ExecutionOptions, 'runId'> {
  /** Called with the id of the run that the execution becomes. */
  readonly onAccepted?: (runId: string) => void;
}

/** Answers once the execution has ended; once its run is committed, where it is asynchronous or the caller leaves it. */
export async function execute(
  dependencies: ExecuteDependencies,
  request: ExecutionRequest,
  options: ExecuteOptions,
  call: CallContext,
): Promise<ExecutionAnswer | AcceptedExecution> {
  const { lanes, runs, clock } = dependencies;
  const runId = uuidV7(clock.now());
  const item = executionItem(dependencies, request, { runId, ...options }, call);
  const answer = await lanes.submit(item);
  if ('toVerify' in answer) {
    const paid = await verifyPayment(dependencies, { request, once: options.once }, answer.toVerify);
    return execute(dependencies, paid.request, { ...options, once: paid.once }, call);
  }
  // With another id it is the stored answer to the same key, or the run that has claimed it.
  if (!('executionId' in answer) || answer.executionId !== runId) return answer;
  options.onAccepted?.(runId);
  const ended = runs.drive(runId, request.deploymentId).catch(() => undefined);
  return options.asynchronous || call.leavesRun === true
    ? answer
    : awaitRun(dependencies, runId, ended, call);
}

/** How often the row of a run is read that another owner continues, in milliseconds. */
const POLL_MS = 100;

/** Resolves with `ended`, or at the deadline: a run outlives it while the database is away. */
async function before(deadline: number, ended: Promise<void>, clock: Clock): Promise<void> {
  const done = new AbortController();
  const late = clock.sleep(Math.max(0, deadline - clock.monotonic()), done.signal).catch(() => undefined);
  await Promise.race([ended, late]);
  done.abort();
}

/** The answer goes out this long before the caller stops waiting, in milliseconds. */
const ANSWER_MARGIN_MS = 250;

/** The run is stored, so it goes on. @throws ServiceError that its outcome is unknown, with its id */
const unseen =
  (executionId: string) =>
  (error: unknown): never => {
    throw new ServiceError('unavailable', `${toCallError(error).message} ${GOES_ON}`, {
      facts: { executionId, outcome: 'unknown' },
      cause: error,
    });
  };

const GOES_ON = 'The execution goes on: its executionId tells how it stands.';

/**
 * Waits for the end of a run, or until nobody can tell whether its payment was charged. When another process becomes the
 * deployment's owner, its row is polled.
 * @throws `deadline_exceeded` with the fact `executionId` when the run goes on after the call's deadline, `unavailable` with
 * the same fact when its row cannot be read
 */
export async function awaitRun(
  { db, clock }: Pick<ExecuteDependencies, 'db' | 'clock'>,
  id: string,
  ended: Promise<void>,
  { deadline: waitsUntil, signal }: CallContext,
): Promise<ExecutionAnswer | AcceptedExecution> {
  const deadline = waitsUntil - ANSWER_MARGIN_MS;
  await before(deadline, ended, clock);
  for (;;) {
    const row = await readRun(db, id).catch(unseen(id));
    if (row !== undefined && hasEnded(row)) return answerOfRun(row);
    if (row !== undefined && awaitsPayment(row.state)) return unendedAnswer(row);
    if (signal.aborted || clock.monotonic() >= deadline)
      throw new ServiceError('deadline_exceeded', undefined, { facts: { executionId: id } });
    await clock.sleep(POLL_MS, signal);
  }
}
