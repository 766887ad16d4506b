import {
  type AcceptedExecution,
  type CallContext,
  type Caller,
  canonicalHash,
  type ExecutionAnswer,
  type Handlers,
  type publicExecutionReadRpcs,
  type publicExecutionRpcs,
  type ReplyOf,
  type RequestOf,
  ServiceError,
} from '@orrery/contracts';
import { toCallError } from '@orrery/database';
import type { DeploymentDirectory, KnownDeployment } from '../deployments/deployment-directory.js';
import { notFound } from '../deployments/deployment-rules.js';
import { isUuid } from '../ids/uuid-v7.js';
import type { OnceRequest } from '../once/once-item.js';
import { partitionOf } from '../ownership/partitions.js';
import type { RouteToOwner } from '../ownership/route-to-owner.js';
import { settlementOf } from '../payments/payment-store.js';
import { awaitsPayment } from '../state/load-state.js';
import type { ExecutionRequest } from './execution-request.js';
import { awaitRun, type ExecuteDependencies, execute } from './handlers.js';
import { readRun, recordOfRun, requestOf, unendedAnswer } from './run-row.js';
import { type MessageWindow, refuseOutsideWindow, timeOfMessage } from './signed-message.js';

type Rpcs = typeof publicExecutionRpcs;
type Request = RequestOf<Rpcs['executions.public']>;
type Reply = ReplyOf<Rpcs['executions.public']>;

export interface PublicExecutionDependencies extends ExecuteDependencies {
  readonly directory: Pick<DeploymentDirectory, 'byAddress'>;
  readonly messageWindow: MessageWindow;
}

/** For any process, which forwards to the owner of the deployment. */
export const publicExecutionHandlers = (
  dependencies: PublicExecutionDependencies & { readonly route: RouteToOwner },
): Handlers<Rpcs> => ({
  'executions.public': async (request, call) => {
    const deployment = await known(dependencies, request);
    const here = (_request: Request, call: CallContext) =>
      executeHere(dependencies, deployment, request, call);
    const partition = partitionOf(deployment.id);
    return dependencies.route({ name: 'executions.public', partition, request, here }, call);
  },
});

/** At the owner. @throws NotOwner */
export const publicExecutionsHere = (dependencies: PublicExecutionDependencies): Handlers<Rpcs> => ({
  'executions.public': async (request, call) =>
    executeHere(dependencies, await known(dependencies, request), request, call),
});

/** By the id of the execution alone, which only its caller was told. */
export const publicExecutionReads = ({
  db,
  directory,
}: Pick<PublicExecutionDependencies, 'db' | 'directory'>): Handlers<typeof publicExecutionReadRpcs> => ({
  'executions.getPublic': async ({ params }) => {
    const deployment = await directory.byAddress(params.address);
    const row = isUuid(params.executionId) ? await readRun(db, params.executionId) : undefined;
    if (row === undefined || row.deployment_id !== deployment?.id || requestOf(row).trigger !== 'public')
      throw new ServiceError('execution_not_found');
    return { data: recordOfRun(row) };
  },
});

async function known(
  { directory }: Pick<PublicExecutionDependencies, 'directory'>,
  { deployment }: Request,
): Promise<KnownDeployment> {
  const found = await directory.byAddress(deployment);
  if (found === undefined) throw notFound();
  return found;
}

/**
 * Answers as if it checked in this order: the text of the message, whether it was seen before, its time; then the lane goes
 * on with the deployment, the event, the input and the price (docs/public-execution.md).
 */
async function executeHere(
  dependencies: PublicExecutionDependencies,
  { id: deploymentId, address }: KnownDeployment,
  { event, input, message, payment, resource, awaitsRun }: Request,
  call: CallContext,
): Promise<Reply> {
  const wallet = walletOf(call.caller);
  const request: ExecutionRequest = {
    deploymentId,
    event,
    input,
    trigger: 'public',
    walletAddress: wallet,
    offer: { payment, resource },
  };
  const once = onceForMessage(dependencies, request, { wallet, message, address });
  let begun: string | undefined;
  const onAccepted = (runId: string) => {
    begun = runId;
  };
  const answer = await execute(dependencies, request, { once, asynchronous: false, onAccepted }, call);
  if ('executionId' in answer && (answer.executionId === begun || answer.state === 'awaiting_payment'))
    return { data: answer, payment: null };
  const data = 'executionId' in answer ? await ofEarlierCall(dependencies, answer, awaitsRun, call) : answer;
  if ('executionId' in data) return { data, payment: null };
  // Only who sends a payment is told what became of it.
  const paid =
    payment === null
      ? undefined
      : await settlementOf(dependencies.db, deploymentId, data.seq).catch(afterCommit);
  return { data, payment: paid ?? null };
}

/** Its execution is committed: repeated, the message tells of it. */
function afterCommit(error: unknown): never {
  throw new ServiceError(
    'unavailable',
    `${toCallError(error).message} Repeat the request to get the outcome.`,
    {
      facts: { outcome: 'unknown' },
      cause: error,
    },
  );
}

/** The message has begun a run that had not ended. @throws `request_in_flight` */
async function ofEarlierCall(
  dependencies: PublicExecutionDependencies,
  { executionId }: AcceptedExecution,
  awaitsRun: boolean,
  call: CallContext,
): Promise<ExecutionAnswer | AcceptedExecution> {
  if (awaitsRun) return awaitRun(dependencies, executionId, Promise.resolve(), call);
  const row = await readRun(dependencies.db, executionId);
  if (row !== undefined && awaitsPayment(row.state)) return unendedAnswer(row);
  throw new ServiceError(
    'request_in_flight',
    'The message is being executed. Repeat the request to get the outcome.',
    { facts: { retryAfterSeconds: 1 } },
  );
}

function walletOf(caller: Caller): string {
  if (caller.kind === 'wallet') return caller.wallet;
  throw new ServiceError('forbidden', 'Only a wallet executes in this way.');
}

/** One use of a message by its wallet, for the first input that comes with it. @throws `message_mismatch` */
function onceForMessage(
  { clock, messageWindow }: Pick<PublicExecutionDependencies, 'clock' | 'messageWindow'>,
  { deploymentId, event, input }: ExecutionRequest,
  { wallet, message, address }: { wallet: string; message: string; address: string },
): OnceRequest {
  const time = timeOfMessage(message, { address, event });
  const now = clock.now();
  const windowMs = messageWindow.maxAgeMs + messageWindow.maxAheadMs;
  return {
    keys: [{ scope: 'message', key: canonicalHash({ wallet, message }), windowMs }],
    requestHash: canonicalHash({ deploymentId, event, input, wallet }),
    signedAt: time,
    refuseNew: () => refuseOutsideWindow(time, now, messageWindow),
  };
}
