import {
  type AcceptedExecution,
  type CallContext,
  type Caller,
  canonicalHash,
  type ExecutionAnswer,
  type Handlers,
  MESSAGE_PREFIX,
  parseReference,
  type publicExecutionReadRpcs,
  type publicExecutionRpcs,
  type RequestOf,
  replayNameOf,
  ServiceError,
  type SettlementResponse,
  toNfc,
} from '@orrery/contracts';
import { toCallError } from '@orrery/database';
import { isUuid } from '@orrery/deciding';
import { z } from 'zod';
import type { OnceRequest } from '../../lane/items/once-item.js';
import { awaitRun, execute } from '../../runs/execute/execute.js';
import { publicRequestHash } from '../../runs/requests/require-payment.js';
import type { ExecutionRequest } from '../../runs/requests/resolve-event.js';
import {
  deploymentAt,
  type KnownDeployment,
  notFound,
} from '../../store/deployments/deployment-directory.js';
import { settlementOf } from '../../store/runs/payment-store.js';
import { readRun, recordOfRun, requestOf, unendedAnswer } from '../../store/runs/run-store.js';
import { awaitsPayment } from '../../store/state/deployment-state.js';
import type { RuntimeContext } from '../context.js';

type Rpcs = typeof publicExecutionRpcs;
type Request = RequestOf<Rpcs['executions.public']>;
interface Reply {
  data: ExecutionAnswer | AcceptedExecution;
  payment: SettlementResponse | null;
}

/** At the owner. @throws NotOwner */
export const publicExecutions = (context: RuntimeContext): Handlers<Rpcs> => ({
  'executions.public': async (request, call) => {
    const deployment = await deploymentAt(context.directory, request.deployment);
    const reply = executeHere(context, deployment, request, call);
    return isId(request.deployment) ? reply.catch(hidingWhatIsPrivate(context, deployment)) : reply;
  },
});

function isId(deployment: string): boolean {
  const reference = parseReference(deployment);
  return reference !== undefined && 'id' in reference;
}

/** Ids are counted up, so who names one may know nothing else: neither that there is such a deployment nor its address. */
const hidingWhatIsPrivate =
  ({ access }: Pick<RuntimeContext, 'access'>, { address, worldAddress }: KnownDeployment) =>
  async (error: unknown): Promise<never> => {
    const code = error instanceof ServiceError ? error.code : undefined;
    if (code === 'deployment_not_public' || code === 'deployment_not_found') throw notFound();
    if (code === 'message_mismatch') await access.see({ worldAddress, address }, { kind: 'anonymous' });
    throw error;
  };

/** By the id of the execution alone, which only its caller was told. */
export const publicExecutionReads = ({
  db,
  directory,
}: RuntimeContext): Handlers<typeof publicExecutionReadRpcs> => ({
  'executions.getPublic': async ({ params }) => {
    const deployment = await directory.byAddress(params.address);
    const row = isUuid(params.executionId) ? await readRun(db, params.executionId) : undefined;
    if (row === undefined || row.deployment_id !== deployment?.id || requestOf(row).trigger !== 'public')
      throw new ServiceError('execution_not_found');
    return { data: recordOfRun(row) };
  },
});

/**
 * Answers as if it checked in this order: the text of the message, whether it was seen before, its time; then the lane goes
 * on with the deployment, the event, the input and the price (docs/public-execution.md).
 */
async function executeHere(
  context: RuntimeContext,
  { id: deploymentId, address }: KnownDeployment,
  { event, input, message, payment, resource, atEvent, awaitsRun }: Request,
  call: CallContext,
): Promise<Reply> {
  const wallet = walletOf(call.caller, message);
  const url = atEvent ? eventUrl(resource, address, event) : resource;
  const request: ExecutionRequest = {
    deploymentId,
    event,
    input,
    trigger: 'public',
    walletAddress: wallet,
    offer: { payment, resource: url, atEvent, byPayer: wallet === null },
  };
  const once =
    wallet === null || message === null
      ? ONCE_BY_PAYMENT
      : onceForMessage(context, request, { wallet, message, address });
  let begun: string | undefined;
  const onAccepted = (runId: string) => {
    begun = runId;
  };
  const answer = await execute(context, request, { once, asynchronous: false, onAccepted }, call);
  if ('executionId' in answer && (answer.executionId === begun || answer.state === 'awaiting_payment'))
    return { data: answer, payment: null };
  const data = 'executionId' in answer ? await ofEarlierCall(context, answer, awaitsRun, call) : answer;
  if ('executionId' in data) return { data, payment: null };
  // Only who sends a payment is told its outcome.
  const paid =
    payment === null ? undefined : await settlementOf(context.db, deploymentId, data.seq).catch(afterCommit);
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

/** The message, or the payment, has begun a run that had not ended. @throws `request_in_flight` */
async function ofEarlierCall(
  context: RuntimeContext,
  { executionId }: AcceptedExecution,
  awaitsRun: boolean,
  call: CallContext,
): Promise<ExecutionAnswer | AcceptedExecution> {
  if (awaitsRun) return awaitRun(context, executionId, Promise.resolve(), call);
  const row = await readRun(context.db, executionId);
  if (row !== undefined && awaitsPayment(row.state)) return unendedAnswer(row);
  throw new ServiceError(
    'request_in_flight',
    'The request is being executed. Repeat the request to get the outcome.',
    { facts: { retryAfterSeconds: 1 } },
  );
}

/** Null where nobody has signed: the payment will say who calls. @throws `forbidden` */
function walletOf(caller: Caller, message: string | null): string | null {
  if (caller.kind === 'wallet' && message !== null) return caller.wallet;
  if (caller.kind === 'anonymous' && message === null) return null;
  throw new ServiceError('forbidden', 'Only a wallet executes in this way.');
}

/** The address of an event, one for each, since catalogues name what is paid for by it. */
const eventUrl = (base: string, address: string, event: string): string =>
  new URL(`/app/deployments/${address}/events/${encodeURIComponent(event)}/execute`, base).href;

/** Its keys are known once the payment is verified. */
const ONCE_BY_PAYMENT: OnceRequest = { keys: [], requestHash: '' };

/** One use of a message by its wallet, for the first input that comes with it. @throws `message_mismatch` */
function onceForMessage(
  { clock, messageWindow }: RuntimeContext,
  { deploymentId, event, input }: ExecutionRequest,
  { wallet, message, address }: { wallet: string; message: string; address: string },
): OnceRequest {
  const time = timeOfMessage(message, { address, event });
  const now = clock.now();
  const windowMs = messageWindow.maxAgeMs + messageWindow.maxAheadMs;
  return {
    keys: [{ scope: 'message', key: canonicalHash({ wallet: replayNameOf(wallet), message }), windowMs }],
    requestHash: publicRequestHash({ deploymentId, event, input }, wallet),
    signedAt: time,
    refuseNew: () => refuseOutsideWindow(time, now, messageWindow),
  };
}

type MessageWindow = RuntimeContext['messageWindow'];

/** `0x` and 40 hex digits. */
const ADDRESS_LENGTH = 42;
const RFC_3339 = z.iso.datetime({ offset: true });

/**
 * The time of a message, in milliseconds since the epoch. The message is `orrery:{deploymentAddress}:{eventName}:` and a
 * timestamp: 13 digits (milliseconds), 10 digits (seconds) or RFC 3339. Names hold colons, so it is never split: it must
 * begin with the expected text. The address counts in any case of letters, the name in NFC.
 *
 * @throws `message_mismatch` with the text to sign, up to the timestamp, in `facts.expected`
 */
export function timeOfMessage(
  message: string,
  { address, event }: { readonly address: string; readonly event: string },
): number {
  const expected = `${MESSAGE_PREFIX}${address}:${event}:`;
  const start = MESSAGE_PREFIX.length + ADDRESS_LENGTH;
  const given = toNfc(message.slice(0, start).toLowerCase() + message.slice(start));
  const time = given.startsWith(expected) ? timeOf(given.slice(expected.length)) : undefined;
  if (time === undefined)
    throw new ServiceError(
      'message_mismatch',
      `Sign the text "${expected}" followed by the current time: milliseconds (13 digits), seconds (10 digits) or RFC 3339.`,
      { facts: { expected } },
    );
  return time;
}

function timeOf(text: string): number | undefined {
  if (/^\d{13}$/.test(text)) return Number(text);
  if (/^\d{10}$/.test(text)) return Number(text) * 1000;
  return RFC_3339.safeParse(text).success ? Date.parse(text) : undefined;
}

/** @throws `message_expired` for a message whose time is too long ago or too far ahead */
export function refuseOutsideWindow(
  time: number,
  now: number,
  { maxAgeMs, maxAheadMs }: MessageWindow,
): void {
  if (now - time <= maxAgeMs && time - now <= maxAheadMs) return;
  throw new ServiceError(
    'message_expired',
    `The message may be at most ${maxAgeMs / 1000} s old and ${maxAheadMs / 1000} s ahead of ${new Date(now).toISOString()}: sign a new one.`,
    { facts: { serverTime: new Date(now).toISOString(), maxAgeMs, maxAheadMs } },
  );
}
