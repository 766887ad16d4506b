import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { findUnsafeJson, parseJson, refusal, ServiceError } from '@orrery/contracts';
import { createSemaphore } from '@orrery/service-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { findJsonFault } from '../../core/requests/json-fault.js';
import type { OnRequestEnd } from '../server/http-server.js';
import { GrowingAnswer } from './growing-answer.js';

export interface BodyLimits {
  /** Nesting levels of a body's JSON. */
  jsonDepth: number;
  /** Bytes of the bodies of all requests in this process, of each those beyond the first 16 KiB. */
  maxBodyBytes: number;
  /** Ms after which a body has to have arrived or to keep up with the slowest rate; default 5 s. */
  slowBodyGraceMs?: number;
}

/** Of each body, what does not count: ordinary requests get through while large bodies use the budget up. */
const FREE_BYTES = 16 * 1024;
/** Bytes a second that a body has to arrive with, on average, after its grace. */
const SLOWEST_RATE = 1024;
const GRACE_MS = 5000;
const CHECK_MS = 1000;

interface Arriving {
  readonly raw: IncomingMessage;
  readonly since: number;
  received: number;
}

/**
 * Bodies have a budget in bytes until their requests end: the one that exceeds it while it arrives is refused with 503.
 * A body that comes more slowly than 1 KiB a second is refused with 408, long before the time for whole requests is
 * over.
 */
export function limitArrivingBodies(
  app: FastifyInstance,
  { maxBodyBytes, slowBodyGraceMs = GRACE_MS }: BodyLimits,
): void {
  const small = watchSmallBodies(app, slowBodyGraceMs);
  const arriving = new Set<Arriving>();
  let counted = 0;
  const receive = (one: Arriving, bytes: number) => {
    const before = countedOf(one);
    one.received += bytes;
    counted += countedOf(one) - before;
    if (countedOf(one) > before && counted > maxBodyBytes) refuse(one, tooMuch());
  };
  const refuse = (one: Arriving, error: ServiceError) => {
    arriving.delete(one);
    refuseBody(one.raw, error);
  };
  const refuseSlow = () => {
    const now = performance.now();
    small.refuseSlow(now);
    for (const one of arriving) {
      const expected = ((now - one.since - slowBodyGraceMs) / 1000) * SLOWEST_RATE;
      if (one.received < expected) refuse(one, tooSlow());
    }
  };
  const timer = setInterval(refuseSlow, Math.min(CHECK_MS, slowBodyGraceMs)).unref();
  app.addHook('onClose', async () => clearInterval(timer));
  app.addHook('preParsing', ({ raw }, reply, _payload, done) => {
    if (!raw.complete && hasBody(raw) && !small.watch(raw)) {
      const one = { raw, since: performance.now(), received: 0 };
      arriving.add(one);
      const count = (chunk: Buffer) => receive(one, chunk.length);
      raw.on('data', count);
      raw.once('end', () => arriving.delete(one));
      reply.raw.once('close', () => {
        // What still comes after a refusal is thrown away.
        raw.off('data', count);
        arriving.delete(one);
        counted -= countedOf(one);
      });
    }
    done();
  });
}

/** The framework, which reads the body, answers this error and closes the connection. */
function refuseBody(raw: IncomingMessage, error: ServiceError): void {
  if (raw.listenerCount('error') > 0) raw.emit('error', error);
}

/** A small body that may still be arriving. */
interface SmallBody {
  readonly raw: IncomingMessage;
  /** When it has to be there as a whole. */
  readonly until: number;
}

/**
 * Bodies that say they are no longer than `FREE_BYTES`, as nearly all do, are not counted, so nothing listens to them. Each
 * has to arrive within the time that the slowest rate takes for it. Only the last one of a connection can be arriving.
 */
function watchSmallBodies(app: FastifyInstance, graceMs: number) {
  const last = new Map<Socket, SmallBody | undefined>();
  app.server.on('connection', (socket: Socket) => {
    last.set(socket, undefined);
    socket.once('close', () => last.delete(socket));
  });
  return {
    /** Whether it is small, and is watched from now on. */
    watch: (raw: IncomingMessage): boolean => {
      const length = Number(raw.headers['content-length'] ?? Number.NaN);
      if (!(length <= FREE_BYTES && last.has(raw.socket))) return false;
      last.set(raw.socket, { raw, until: performance.now() + graceMs + (1000 * length) / SLOWEST_RATE });
      return true;
    },
    refuseSlow: (now: number): void => {
      for (const [socket, body] of last) {
        if (body === undefined) continue;
        const isSlow = !body.raw.complete && body.until < now;
        if (isSlow) refuseBody(body.raw, tooSlow());
        if (isSlow || body.raw.complete) last.set(socket, undefined);
      }
    },
  };
}

const countedOf = ({ received }: Arriving): number => Math.max(0, received - FREE_BYTES);

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

const tooMuch = () =>
  new ServiceError('overloaded', 'The bodies of other requests take all the memory.', {
    facts: { reached: false },
  });

const tooSlow = () =>
  new ServiceError('request_timeout', `A body must arrive with at least ${SLOWEST_RATE} bytes a second.`);

/**
 * Makes JSON the only accepted body. An empty body counts as absent, whatever its content type: DELETE requests and
 * actions are often sent that way.
 */
export function acceptJsonOnly(app: FastifyInstance, maxDepth: number): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    (request: FastifyRequest, bytes: Buffer, done: (error: Error | null, body?: unknown) => void) => {
      let body: unknown;
      try {
        body = bytes.length === 0 ? undefined : parseJsonBody(request.headers, bytes, maxDepth);
      } catch (error) {
        return done(error as Error);
      }
      done(null, body);
    },
  );
}

/** More values in one body would take long to check; no operation needs as many. */
const MAX_VALUES = 100_000;

/**
 * @throws ServiceError `unsupported_media_type`, `invalid_json`, or `validation_failed` for what no service accepts.
 */
function parseJsonBody(headers: FastifyRequest['headers'], bytes: Buffer, maxDepth: number): unknown {
  refuseOtherEncodings(headers);
  const value = parse(bytes);
  const problem = findUnsafeJson(value, maxDepth, MAX_VALUES);
  if (problem === undefined) return value;
  throw refusal([problem], 'The body');
}

/** JSON that travels is UTF-8 (RFC 8259 §8.1), and nothing is decompressed here. */
function refuseOtherEncodings(headers: FastifyRequest['headers']): void {
  const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(headers['content-type'] ?? '')?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset))
    throw new ServiceError('unsupported_media_type', 'Send the body as UTF-8: no other charset is accepted.');
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.trim().toLowerCase() !== 'identity')
    throw new ServiceError('unsupported_media_type', 'Send the body without a Content-Encoding.');
}

/** RFC 8259 §8.1: JSON that travels is UTF-8. A byte order mark is kept, so that parsing refuses it. */
function parse(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new ServiceError('invalid_json', 'The body is not valid UTF-8.');
  const text = bytes.toString('utf8');
  try {
    return parseJson(text);
  } catch (cause) {
    throw invalidJson(text, cause);
  }
}

function invalidJson(text: string, cause: unknown): ServiceError {
  const fault = findJsonFault(text);
  if (fault === undefined) return new ServiceError('invalid_json', undefined, { cause });
  const { line, column, message } = fault;
  const detail = `The body is not valid JSON. Line ${line}, column ${column}: ${message}`;
  return new ServiceError('invalid_json', detail, { facts: { line, column }, cause });
}

/** Health must be readable whatever the load is. */
export const ALWAYS_ADMITTED = /^\/(healthz|readyz)$/;
/** Where the request of a reply is: in a slot, waiting for a model or a payment, or in the queue, which aborting leaves. */
type Place = 'slot' | 'waiting' | AbortController;
type Carrier = FastifyReply & { place: Place | undefined };

export type Admission = ReturnType<typeof addAdmission>;

export interface AdmissionLimits {
  readonly maxInFlight: number;
  readonly maxWaiting: number;
  /** How long a request waits for its turn before it is refused, in milliseconds. Default 1,000. */
  readonly queueMs?: number;
}

/**
 * At most `maxInFlight` requests are under way: beyond that number every further request makes all of them slower. As
 * many more wait for a second, in order of arrival; the others are refused with 503 and `Retry-After`. A request counts
 * once it has arrived completely, so slow senders take no slot from those that run, and no longer once it waits for a
 * model or a payment, so slow models do not either, or once it is answered, so slow readers do not.
 */
export function addAdmission(
  app: FastifyInstance,
  onRequestEnd: OnRequestEnd,
  { maxInFlight, maxWaiting, queueMs = 1000 }: AdmissionLimits,
) {
  const slots = createSemaphore(maxInFlight, { maxWaiting: maxInFlight, maxWaitMs: queueMs });
  let waiting = 0;
  const queue = (reply: Carrier, done: (error?: ServiceError) => void) => {
    const leaving = new AbortController();
    reply.place = leaving;
    slots.acquire(leaving.signal).then(
      () => {
        if (leaving.signal.aborted) return slots.release();
        reply.place = 'slot';
        done();
      },
      () => leaving.signal.aborted || done(overloaded(slots.waiting / maxInFlight)),
    );
  };
  app.decorateReply('place', undefined);
  app.addHook('preValidation', (request, reply, done) => {
    if (ALWAYS_ADMITTED.test(request.url)) return done();
    // Its client left during a guard. The end of the request was noted then, so nothing would give its slot back.
    if (reply.raw.destroyed) return;
    if (slots.isFull) return queue(reply as Carrier, done);
    slots.take();
    (reply as Carrier).place = 'slot';
    done();
  });
  /** A long answer, such as a stream, does not count as a request under way. */
  const release = (reply: FastifyReply): void => {
    const { place } = reply as Carrier;
    (reply as Carrier).place = undefined;
    if (place === 'slot') slots.release();
    else if (place === 'waiting') waiting -= 1;
    else place?.abort();
  };
  /** The request only waits from now on, and counts among those that wait; where these are too many, as before. */
  const wait = (reply: FastifyReply): void => {
    if ((reply as Carrier).place !== 'slot' || waiting >= maxWaiting) return;
    (reply as Carrier).place = 'waiting';
    waiting += 1;
    slots.release();
  };
  // How long a client takes to read its answer is no work: `boundAnswers` bounds it.
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (payload instanceof GrowingAnswer) void payload.complete.then(() => release(reply));
    else release(reply);
    done();
  });
  onRequestEnd((_request, reply) => release(reply));
  return { release, wait };
}

/** `fill`: how full the queue is, 0 to 1; the fuller, the longer the caller should stay away: 1 to 3 seconds. */
const overloaded = (fill: number): ServiceError =>
  new ServiceError('overloaded', 'Too many requests are under way.', {
    facts: { reached: false, retryAfterSeconds: 1 + Math.round(2 * fill) },
  });
