import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { ServiceError } from '@orrery/contracts';
import type { FastifyInstance } from 'fastify';

export interface BodyLimits {
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
