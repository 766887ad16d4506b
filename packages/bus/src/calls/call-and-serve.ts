import { setImmediate } from 'node:timers/promises';
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import {
  type CallContext,
  errorReply,
  fromErrorReply,
  JsonText,
  type JsonValue,
  type NamedRpc,
  parseRequest,
  ServiceError,
} from '@orrery/contracts';
import { toCallError } from '@orrery/database';
import { type Clock, createMeter, createTracer, isMetered, isTraced, type Logger } from '@orrery/service-kit';
import { lateError, startDeadline } from '../in-flight/in-flight.js';
import type { Bus, CallOptions } from '../ports/bus-port.js';
import type { Answer, Exchange, Frame } from '../ports/transport.js';
import {
  decodeBody,
  decodeUntrusted,
  ERROR_HEADER,
  encodeBody,
  errorFrame,
  instanceSubject,
  MAX_CALL_BYTES,
  previousInstanceSubject,
  readCallHeaders,
  withinTrace,
  withoutReached,
  writeCallHeaders,
} from '../wire/wire-format.js';

// The two ends of a typed call. The caller's end writes a request as a frame and reads the reply. The serving end
// checks the request, runs the handler, and always answers.

export interface BusDependencies {
  readonly service: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The calling end. It trusts the reply, which the serving end has checked. */
export const createCall = (exchange: Exchange, dependencies: Calling): Bus['call'] =>
  createCalling(exchange, dependencies, decodeBody);

/** The same for a caller that passes the reply on: nobody parses it. */
export const createCallForText = (exchange: Exchange, dependencies: Calling): Bus['callForText'] =>
  createCalling(exchange, dependencies, (body) => new JsonText(body));

type Calling = Omit<BusDependencies, 'logger'>;

function createCalling<Reply>(
  exchange: Exchange,
  { service, clock }: Calling,
  read: (body: string) => Reply,
): (rpc: NamedRpc, request: unknown, options: CallOptions) => Promise<never> {
  const watch = createWatch(service, SpanKind.CLIENT, 'orrery_bus_call_duration');
  return (rpc, request, options) =>
    watch(rpc, async () => {
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
      refuseError(reply);
      // The serving end has checked that it is what the contract says.
      return read(reply.body) as never;
    });
}

/** @throws the error that the reply is, if it is one */
function refuseError({ headers, body }: Frame): void {
  if (headers[ERROR_HEADER] === undefined) return;
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

type AnyHandler = (request: never, context: CallContext) => Promise<JsonValue>;

/** `ServeOptions.ttlMs`, by default. */
const TTL_MS = 6000;

/** The serving end: RPCs are registered here alone. */
export const createServe = (
  exchange: Exchange,
  { service, clock, logger }: BusDependencies,
): Bus['serve'] => {
  const watch = createWatch(service, SpanKind.SERVER, 'orrery_bus_answer_duration');
  const ownName: string = crypto.randomUUID();
  /** Turns a handler into an `Answer`, which never rejects. */
  const answerBy =
    (rpc: NamedRpc, handler: AnyHandler): Answer =>
    (request, call) =>
      withinTrace(request.headers, () =>
        watch(rpc, () => handle(rpc, handler, request, call, clock)).catch((thrown: unknown) => {
          const error = toCallError(thrown);
          const requestId = request.headers['orrery-request'];
          if (error.code === 'internal')
            logger.error({ err: thrown, rpc: rpc.name, requestId }, 'a call failed');
          return errorFrame(error);
        }),
      );
  return async (contract, handlers, { instance = ownName, ttlMs = TTL_MS } = {}) => {
    const answers = new Map<string, Answer>();
    for (const [name, rpc] of Object.entries<NamedRpc>(contract.rpcs)) {
      const answer = answerBy(rpc, handlers[name] as unknown as AnyHandler);
      answers.set(rpc.subject, answer);
      answers.set(instanceSubject(rpc.subject, instance), answer);
      answers.set(previousInstanceSubject(rpc.subject, instance), answer);
    }
    await exchange.respond(contract.service, answers, { instance, ttlMs });
  };
};

async function handle(
  rpc: NamedRpc,
  handler: AnyHandler,
  request: Frame,
  call: AbortController,
  clock: Clock,
): Promise<Frame> {
  const now = clock.monotonic();
  const facts = readCallHeaders(request.headers, now);
  const timer = startDeadline(facts.deadline - now, () => call.abort(lateError()));
  try {
    const valid = parseRequest(rpc, decodeUntrusted(request.body));
    const reply = await handler(valid as never, { signal: call.signal, ...facts });
    return { headers: NO_HEADERS, body: await encodeReply(rpc, reply) };
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
async function encodeReply(rpc: NamedRpc, reply: unknown): Promise<string> {
  const checked = rpc.reply.safeParse(reply);
  if (!checked.success)
    throw new Error(`the reply of ${rpc.name} breaks its contract`, { cause: checked.error });
  try {
    const { data } = (checked.data ?? {}) as { data?: unknown };
    const isList = Array.isArray(data) && data.length > 1;
    return encodeBody(isList ? await inTurns(checked.data as object, data) : checked.data, MAX_CALL_BYTES);
  } catch (error) {
    throw new ServiceError('internal', 'The answer is too large to be carried.', { cause: error });
  }
}

/** Milliseconds of writing a list after which others have their turn. */
const TURN_MS = 10;

/** The text of a list, which may have many megabytes, as `JSON.stringify` has it but for the place of `data`: in front. */
async function inTurns(reply: object, data: readonly unknown[]): Promise<JsonText> {
  const items: string[] = [];
  let begun = performance.now();
  for (const item of data) {
    items.push(JSON.stringify(item) ?? 'null');
    if (performance.now() - begun < TURN_MS) continue;
    await setImmediate();
    begun = performance.now();
  }
  const rest = JSON.stringify({ ...reply, data: undefined }).slice(1);
  return new JsonText(`{"data":[${items.join(',')}]${rest === '}' ? '' : ','}${rest}`);
}

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError';

type Watch = <T>(rpc: NamedRpc, work: () => Promise<T>) => Promise<T>;

/** A span and a duration for each call, at either end; neither where no SDK would collect it. */
function createWatch(service: string, kind: SpanKind, durations: string): Watch {
  const timed = isMetered() ? createTimer(service, durations) : unwatched;
  if (!isTraced()) return timed;
  const spanned = createSpans(service, kind);
  return (rpc, work) => spanned(rpc, () => timed(rpc, work));
}

const unwatched: Watch = (_rpc, work) => work();

function createTimer(service: string, name: string): Watch {
  const durations = createMeter(service).createHistogram(name, { unit: 'ms' });
  return (rpc, work) => {
    const startedAt = performance.now();
    const note = (code: string) => durations.record(performance.now() - startedAt, { rpc: rpc.name, code });
    const worked = work();
    worked.then(
      () => note('ok'),
      (error: unknown) => note(toCallError(error).code),
    );
    return worked;
  };
}

function createSpans(service: string, kind: SpanKind): Watch {
  const tracer = createTracer(service);
  return (rpc, work) =>
    tracer.startActiveSpan(`${rpc.service} ${rpc.name}`, { kind }, async (span) => {
      try {
        return await work();
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR, message: toCallError(error).code });
        throw error;
      } finally {
        span.end();
      }
    });
}
