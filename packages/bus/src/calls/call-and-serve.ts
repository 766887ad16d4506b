import {
  type CallContext,
  type Contract,
  errorReply,
  fromErrorReply,
  type Handlers,
  type JsonValue,
  type NamedRpc,
  parseRequest,
  type ReplyOf,
  type Rpc,
  ServiceError,
} from '@orrery/contracts';
import { toCallError } from '@orrery/database';
import type { Clock, Logger } from '@orrery/service-kit';
import type { z } from 'zod';
import { lateError, startDeadline } from '../in-flight/in-flight.js';
import type { CallOptions, ServeOptions } from '../ports/bus-port.js';
import type { Answer, Exchange, Frame } from '../ports/transport.js';
import {
  createReadCallHeaders,
  decodeBody,
  decodeUntrusted,
  ERROR_HEADER,
  encodeBody,
  errorFrame,
  instanceSubject,
  MAX_CALL_BYTES,
  type ReadCallHeaders,
  tokenSubject,
  withinTrace,
  withoutReached,
  writeCallHeaders,
} from '../wire/wire-format.js';
import type { Signals } from './signals.js';

// The two ends of a typed call. The caller's end writes a request as a frame and reads the reply. The serving end
// checks the request, runs the handler, and always answers.

export interface CallDependencies {
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly signals: Signals;
}

/** The calling end. It trusts the reply, which the serving end has checked. */
export const createCall =
  ({ exchange, clock, signals }: CallDependencies) =>
  <R extends NamedRpc>(rpc: R, request: z.input<R['request']>, options: CallOptions): Promise<ReplyOf<R>> =>
    signals.called(rpc, async () => {
      const timeoutMs = options.deadline - clock.monotonic();
      if (timeoutMs <= 0) throw lateError();
      const frame = {
        headers: writeCallHeaders(options, timeoutMs),
        body: encodeBody(request, MAX_CALL_BYTES),
      };
      const subject =
        options.instance === undefined ? rpc.subject : instanceSubject(rpc.subject, options.instance);
      const reply = await exchange.request(subject, frame, {
        group: rpc.service,
        instance: options.instance,
        timeoutMs,
        signal: options.signal,
      });
      return readReply<ReplyOf<R>>(reply);
    });

function readReply<T>({ headers, body }: Frame): T {
  if (headers[ERROR_HEADER] === undefined) return decodeBody(body) as T;
  const parsed = errorReply.safeParse(decodeBody(body));
  throw parsed.success
    ? fromErrorReply(withoutReached(parsed.data))
    : new ServiceError('internal', 'The answer is not readable.');
}

/** Options of a call that a service makes on its own behalf; it waits `timeoutMs` milliseconds for the answer. */
export const serviceCall = (
  service: string,
  clock: Pick<Clock, 'monotonic'>,
  timeoutMs: number,
  signal?: AbortSignal,
): CallOptions => ({
  caller: { kind: 'service', service },
  requestId: crypto.randomUUID(),
  deadline: clock.monotonic() + timeoutMs,
  ...(signal && { signal }),
});

export interface ServeDependencies {
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signals: Signals;
}

type AnswerDependencies = Omit<ServeDependencies, 'exchange'> & { readonly readCallHeaders: ReadCallHeaders };
type AnyHandler = (request: never, context: CallContext) => Promise<JsonValue>;

/** `ServeOptions.ttlMs`, by default. */
const TTL_MS = 6000;

/** The serving end: RPCs are registered here alone. */
export const createServe = ({ exchange, ...given }: ServeDependencies) => {
  const dependencies = { ...given, readCallHeaders: createReadCallHeaders() };
  const ownName: string = crypto.randomUUID();
  return async <R extends Record<string, Rpc>>(
    contract: Contract<R>,
    handlers: Handlers<R>,
    { instance = ownName, ttlMs = TTL_MS }: ServeOptions = {},
  ): Promise<void> => {
    const answers = new Map<string, Answer>();
    for (const [name, rpc] of Object.entries<NamedRpc>(contract.rpcs)) {
      const answer = createAnswer(rpc, handlers[name] as unknown as AnyHandler, dependencies);
      answers.set(rpc.subject, answer);
      answers.set(instanceSubject(rpc.subject, instance), answer);
      answers.set(tokenSubject(rpc.subject, instance), answer);
    }
    await exchange.respond(contract.service, answers, { instance, ttlMs });
  };
};

/** Turns a handler into an `Answer`, which never rejects. */
function createAnswer(rpc: NamedRpc, handler: AnyHandler, dependencies: AnswerDependencies): Answer {
  const { logger, signals } = dependencies;
  return (request, call) =>
    withinTrace(request.headers, () =>
      signals
        .answered(rpc, () => handle(rpc, handler, request, call, dependencies))
        .catch((error: unknown) => {
          const where = { rpc: rpc.name, requestId: request.headers['orrery-request'] };
          return loggedErrorFrame(error, where, logger);
        }),
    );
}

async function handle(
  rpc: NamedRpc,
  handler: AnyHandler,
  request: Frame,
  call: AbortController,
  { clock, readCallHeaders }: AnswerDependencies,
): Promise<Frame> {
  const now = clock.monotonic();
  const facts = readCallHeaders(request.headers, now);
  const timer = startDeadline(facts.deadline - now, () => call.abort(lateError()));
  try {
    const valid = parseRequest(rpc, decodeUntrusted(request.body));
    const reply = await handler(valid as never, { signal: call.signal, ...facts });
    return { headers: NO_HEADERS, body: encodeReply(rpc, reply) };
  } catch (error) {
    // A handler that stopped because its call was aborted has not failed.
    throw isAbort(error) && call.signal.aborted ? call.signal.reason : error;
  } finally {
    clearTimeout(timer);
  }
}

const NO_HEADERS = {};

/**
 * The check of the reply fills in defaults and removes members that the contract does not name. A failure here is the
 * service's own mistake.
 */
function encodeReply(rpc: NamedRpc, reply: unknown): string {
  const checked = rpc.reply.safeParse(reply);
  if (!checked.success)
    throw new Error(`the reply of ${rpc.name} breaks its contract`, { cause: checked.error });
  try {
    return encodeBody(checked.data, MAX_CALL_BYTES);
  } catch (error) {
    throw new ServiceError('internal', 'The answer is too large to be carried.', { cause: error });
  }
}

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError';

function loggedErrorFrame(thrown: unknown, where: object, logger: Logger): Frame {
  const error = toCallError(thrown);
  if (error.code === 'internal') logger.error({ err: thrown, ...where }, 'a call failed');
  return errorFrame(error);
}
