import { ServiceError } from '@orrery/contracts';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { OnRequestEnd } from './observe-requests.js';

/** Health must be readable whatever the load is. */
export const ALWAYS_ADMITTED = /^\/(healthz|readyz)$/;
/** How long a request waits for its turn before it is refused, in milliseconds. */
const PATIENCE_MS = 1000;

/** Marks the reply of a request that counts as under way. */
const MARK = 'isAdmitted';

type Marked = FastifyReply & { [MARK]: boolean };

export interface Admission {
  /** A long answer, such as a stream, does not count as a request under way. */
  release(reply: FastifyReply): void;
}

/**
 * At most `maxInFlight` requests are under way: beyond that number every further request makes all of them slower. As
 * many more wait for a second, in order of arrival; the others are refused with 503 and `Retry-After`. A request counts
 * once it has arrived completely, so slow senders take no place from those that run.
 */
export function addAdmission(
  app: FastifyInstance,
  onRequestEnd: OnRequestEnd,
  maxInFlight: number,
): Admission {
  const places = new Places(maxInFlight);
  app.decorateReply(MARK, false);
  app.addHook('preValidation', (request, reply, done) => {
    if (ALWAYS_ADMITTED.test(request.url)) return done();
    places.enter({
      admit: () => {
        (reply as Marked)[MARK] = true;
        done();
      },
      refuse: done,
      isGone: () => reply.raw.destroyed,
    });
  });
  const release = (reply: FastifyReply) => {
    if ((reply as Marked)[MARK]) places.leave();
    (reply as Marked)[MARK] = false;
  };
  onRequestEnd((_request, reply) => release(reply));
  return { release };
}

interface Candidate {
  admit(): void;
  refuse(error: ServiceError): void;
  /** Its client has left. */
  isGone(): boolean;
}

/** Places for those that are under way, and a queue of the same length. */
class Places {
  readonly #max: number;
  readonly #queue: { candidate: Candidate; until: number }[] = [];
  #taken = 0;
  #isWatched = false;

  constructor(max: number) {
    this.#max = max;
  }

  enter(candidate: Candidate): void {
    if (this.#taken < this.#max) this.#admit(candidate);
    else if (this.#queue.length < this.#max) this.#wait(candidate);
    else candidate.refuse(overloaded(1));
  }

  leave(): void {
    this.#taken -= 1;
    let next = this.#queue.shift();
    while (next?.candidate.isGone()) next = this.#queue.shift();
    if (next !== undefined) this.#admit(next.candidate);
  }

  #admit(candidate: Candidate): void {
    this.#taken += 1;
    candidate.admit();
  }

  #wait(candidate: Candidate): void {
    this.#queue.push({ candidate, until: performance.now() + PATIENCE_MS });
    if (!this.#isWatched) this.#watch(PATIENCE_MS);
  }

  #watch(ms: number): void {
    this.#isWatched = true;
    setTimeout(() => this.#refuseOverdue(), ms).unref();
  }

  /** All wait equally long, so the first in the queue is the next whose time is over. */
  #refuseOverdue(): void {
    this.#isWatched = false;
    const now = performance.now();
    let first = this.#queue[0];
    while (first !== undefined && first.until <= now) {
      this.#queue.shift();
      first.candidate.refuse(overloaded(this.#queue.length / this.#max));
      first = this.#queue[0];
    }
    if (first !== undefined) this.#watch(first.until - now);
  }
}

/** `fill`: how full the queue is, 0 to 1; the fuller, the longer the caller should stay away: 1 to 3 seconds. */
const overloaded = (fill: number): ServiceError =>
  new ServiceError('overloaded', 'Too many requests are under way.', {
    facts: { retryAfterSeconds: 1 + Math.round(2 * fill) },
  });
