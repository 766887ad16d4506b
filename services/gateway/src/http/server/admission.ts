import { ServiceError } from '@orrery/contracts';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { OnRequestEnd } from './observe-requests.js';

/** Health must be readable whatever the load is. */
const ALWAYS = /^\/(healthz|readyz)$/;

/** Marks the reply of a request that counts as under way. */
const MARK = 'isAdmitted';

type Marked = FastifyReply & { [MARK]: boolean };

export interface Admission {
  /** A long answer, such as a stream, does not count as a request under way. */
  release(reply: FastifyReply): void;
}

/**
 * Refuses requests with 503 and `Retry-After` while `maxInFlight` are under way: beyond that number every further request
 * makes all of them slower.
 */
export function addAdmission(
  app: FastifyInstance,
  onRequestEnd: OnRequestEnd,
  maxInFlight: number,
): Admission {
  let underWay = 0;
  app.decorateReply(MARK, false);
  app.addHook('onRequest', (request, reply, done) => {
    if (ALWAYS.test(request.url)) return done();
    if (underWay >= maxInFlight)
      return done(
        new ServiceError('overloaded', 'Too many requests are under way.', {
          facts: { retryAfterSeconds: 1 },
        }),
      );
    underWay += 1;
    (reply as Marked)[MARK] = true;
    done();
  });
  const release = (reply: FastifyReply) => {
    if ((reply as Marked)[MARK]) underWay -= 1;
    (reply as Marked)[MARK] = false;
  };
  onRequestEnd((_request, reply) => release(reply));
  return { release };
}
