import { ServiceError } from '@orrery/contracts';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { OnRequestEnd } from '../server/observe-requests.js';

/** Health must be readable whatever the load is. */
export const ALWAYS_ADMITTED = /^\/(healthz|readyz)$/;
const QUEUE_MS = 1000;

/** Where a reply keeps its candidate. */
const CANDIDATE = 'candidate';

type Carrier = FastifyReply & { [CANDIDATE]: Candidate | undefined };

export interface Admission {
  /** A long answer, such as a stream, does not count as a request under way. */
  release(reply: FastifyReply): void;
  /** The request only waits from now on, and counts among those that wait; where these are too many, as before. */
  wait(reply: FastifyReply): void;
}

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
  limits: AdmissionLimits,
): Admission {
  const slots = new Slots(limits);
  app.decorateReply(CANDIDATE, undefined);
  app.addHook('preValidation', (request, reply, done) => {
    if (ALWAYS_ADMITTED.test(request.url)) return done();
    // Its client left during a guard. The end of the request was noted then, so nothing would give its slot back.
    if (reply.raw.destroyed) return;
    const candidate = { admit: () => done(), refuse: done, isUnderWay: false, isWaiting: false };
    (reply as Carrier)[CANDIDATE] = candidate;
    slots.enter(candidate);
  });
  const release = (reply: FastifyReply) => {
    const candidate = (reply as Carrier)[CANDIDATE];
    if (candidate !== undefined) slots.leave(candidate);
  };
  const wait = (reply: FastifyReply) => {
    const candidate = (reply as Carrier)[CANDIDATE];
    if (candidate !== undefined) slots.wait(candidate);
  };
  onRequestEnd((_request, reply) => release(reply));
  return { release, wait };
}

interface Candidate {
  admit(): void;
  refuse(error: ServiceError): void;
  isUnderWay: boolean;
  /** Its slot was given to another one. */
  isWaiting: boolean;
}

/**
 * Slots for those that are under way, and a queue of the same length. Those under way are only counted: a `Set` of them
 * would keep them alive long after their end (docs/performance.md, "Short-lived objects in a Map or a Set").
 */
class Slots {
  readonly #max: number;
  readonly #maxWaiting: number;
  readonly #queueMs: number;
  #taken = 0;
  #waiting = 0;
  /** With the time until which each waits. */
  readonly #queue = new Map<Candidate, number>();
  #isWatched = false;

  constructor({ maxInFlight, maxWaiting, queueMs = QUEUE_MS }: AdmissionLimits) {
    this.#max = maxInFlight;
    this.#maxWaiting = maxWaiting;
    this.#queueMs = queueMs;
  }

  enter(candidate: Candidate): void {
    if (this.#taken < this.#max) this.#admit(candidate);
    else if (this.#queue.size < this.#max) this.#wait(candidate);
    else candidate.refuse(overloaded(1));
  }

  /** A candidate that waits leaves the queue; one that has left already changes nothing. */
  leave(candidate: Candidate): void {
    if (!candidate.isUnderWay) {
      this.#queue.delete(candidate);
      return;
    }
    candidate.isUnderWay = false;
    if (candidate.isWaiting) this.#waiting -= 1;
    else this.#free();
  }

  wait(candidate: Candidate): void {
    if (!candidate.isUnderWay || candidate.isWaiting || this.#waiting >= this.#maxWaiting) return;
    candidate.isWaiting = true;
    this.#waiting += 1;
    this.#free();
  }

  #free(): void {
    this.#taken -= 1;
    const [next] = this.#queue.keys();
    if (next === undefined) return;
    this.#queue.delete(next);
    this.#admit(next);
  }

  #admit(candidate: Candidate): void {
    this.#taken += 1;
    candidate.isUnderWay = true;
    candidate.admit();
  }

  #wait(candidate: Candidate): void {
    this.#queue.set(candidate, performance.now() + this.#queueMs);
    if (!this.#isWatched) this.#watch(this.#queueMs);
  }

  #watch(ms: number): void {
    this.#isWatched = true;
    setTimeout(() => this.#refuseOverdue(), ms).unref();
  }

  /** All wait equally long, so the first in the queue is the next whose time is over. */
  #refuseOverdue(): void {
    this.#isWatched = false;
    const now = performance.now();
    for (const [first, until] of this.#queue) {
      if (until > now) {
        this.#watch(until - now);
        return;
      }
      this.#queue.delete(first);
      first.refuse(overloaded(this.#queue.size / this.#max));
    }
  }
}

/** `fill`: how full the queue is, 0 to 1; the fuller, the longer the caller should stay away: 1 to 3 seconds. */
const overloaded = (fill: number): ServiceError =>
  new ServiceError('overloaded', 'Too many requests are under way.', {
    facts: { reached: false, retryAfterSeconds: 1 + Math.round(2 * fill) },
  });
