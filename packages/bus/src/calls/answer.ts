import {
  asServiceError,
  type Canceller,
  type NamedRpc,
  parseRequest,
  ServiceError,
  toErrorReply,
} from '@orrery/contracts';
import { type Clock, type Logger, withinTrace } from '@orrery/service-kit';
import { decodeUntrusted, encodeBody, MAX_CALL_BYTES } from '../body.js';
import type { Signals } from '../signals.js';
import type { Answer, Frame } from '../transport.js';
import { ERROR_HEADER, type ReadCallHeaders } from './call-headers.js';
import { lateError, startDeadline } from './late.js';
import type { AnyHandler } from './serve.js';

export interface AnswerDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signals: Signals;
  readonly readCallHeaders: ReadCallHeaders;
}

/** Turns a handler into something that always answers. */
export function createAnswer(rpc: NamedRpc, handler: AnyHandler, dependencies: AnswerDependencies): Answer {
  const { logger, signals } = dependencies;
  return (request, call) =>
    withinTrace(request.headers, () =>
      signals
        .answered(rpc, () => handle(rpc, handler, request, call, dependencies))
        .catch((error: unknown) => {
          const where = { rpc: rpc.name, requestId: request.headers['orrery-request'] };
          return errorFrame(error, where, logger);
        }),
    );
}

async function handle(
  rpc: NamedRpc,
  handler: AnyHandler,
  request: Frame,
  call: Canceller,
  { clock, readCallHeaders }: AnswerDependencies,
): Promise<Frame> {
  const { remainingMs, caller, requestId, deadline } = readCallHeaders(request.headers, clock.now());
  const timer = startDeadline(remainingMs, () => call.abort(lateError()));
  try {
    const valid = parseRequest(rpc, decodeUntrusted(request.body));
    const reply = await handler(valid as never, { caller, requestId, deadline, signal: call });
    return { headers: NO_HEADERS, body: encodeReply(rpc, reply) };
  } catch (error) {
    // A handler that stopped because it was told to has nothing wrong with it.
    throw isAbort(error) && call.aborted ? call.reason : error;
  } finally {
    clearTimeout(timer);
  }
}

const NO_HEADERS = {};

/**
 * Checking the reply fills in defaults and keeps what the contract does not name inside the service. What
 * fails here is the service's own mistake.
 */
function encodeReply(rpc: NamedRpc, reply: unknown): string {
  const checked = rpc.reply.safeParse(reply);
  if (!checked.success)
    throw new Error(`the reply of ${rpc.name} breaks its contract`, { cause: checked.error });
  try {
    return encodeBody(checked.data, MAX_CALL_BYTES);
  } catch (error) {
    throw new ServiceError('internal', 'The answer is too large to be carried', { cause: error });
  }
}

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError';

function errorFrame(thrown: unknown, where: object, logger: Logger): Frame {
  const error = asServiceError(thrown);
  if (error.code === 'internal') logger.error({ err: thrown, ...where }, 'a call failed');
  return { headers: { [ERROR_HEADER]: error.code }, body: JSON.stringify(toErrorReply(error)) };
}
