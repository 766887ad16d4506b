import { ServiceError } from '@orrery/contracts';
import { createSemaphore } from '@orrery/service-kit';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { OnRequestEnd } from '../server/http-server.js';

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
 * model or a payment, so slow models do not either.
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
  onRequestEnd((_request, reply) => release(reply));
  return { release, wait };
}

/** `fill`: how full the queue is, 0 to 1; the fuller, the longer the caller should stay away: 1 to 3 seconds. */
const overloaded = (fill: number): ServiceError =>
  new ServiceError('overloaded', 'Too many requests are under way.', {
    facts: { reached: false, retryAfterSeconds: 1 + Math.round(2 * fill) },
  });
