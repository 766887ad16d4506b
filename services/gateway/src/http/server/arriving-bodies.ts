import type { IncomingMessage } from 'node:http';
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
 * over. A body that has arrived together with its headers, as nearly all do, is not looked at.
 */
export function limitArrivingBodies(
  app: FastifyInstance,
  { maxBodyBytes, slowBodyGraceMs = GRACE_MS }: BodyLimits,
): void {
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
    // The framework, which reads the body, answers this error and closes the connection.
    if (one.raw.listenerCount('error') > 0) one.raw.emit('error', error);
  };
  const refuseSlow = () => {
    const now = performance.now();
    for (const one of arriving) {
      const expected = ((now - one.since - slowBodyGraceMs) / 1000) * SLOWEST_RATE;
      if (one.received < expected) refuse(one, tooSlow());
    }
  };
  const timer = setInterval(refuseSlow, Math.min(CHECK_MS, slowBodyGraceMs)).unref();
  app.addHook('onClose', async () => clearInterval(timer));
  app.addHook('preParsing', ({ raw }, reply, _payload, done) => {
    if (!raw.complete && hasBody(raw)) {
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

const countedOf = ({ received }: Arriving): number => Math.max(0, received - FREE_BYTES);

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

const tooMuch = () => new ServiceError('overloaded', 'The bodies of other requests take all the memory.');

const tooSlow = () =>
  new ServiceError('request_timeout', `A body must arrive with at least ${SLOWEST_RATE} bytes a second.`);
