import { ServiceError } from '@orrery/contracts';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { principalOf } from '../http/request-principal.js';
import type { RoutedRpc } from '../http/routed-rpc.js';
import { clientSubject } from '../limits/client-subject.js';
import type { RateDecision, RateLimiter, RatePolicies, RatePolicy } from '../limits/rate-policy.js';
import { failClosed } from './fail-closed.js';

export interface RateContext {
  limiter: RateLimiter;
  /** Undefined: nothing is limited. */
  rates: RatePolicies | undefined;
}

/** The guard that belongs to a route: per key under `/api`, per client address elsewhere (decisions §8). */
export function limitRate(rpc: RoutedRpc, { limiter, rates }: RateContext): onRequestHookHandler[] {
  if (rates === undefined) return [];
  const [policy, subjectOf] = countedBy(rpc, rates);
  const said = policyText(policy);
  return [
    // With `done`, so that each request is spared a promise of this hook's own.
    (request, reply, done) => {
      limiter.take(policy, subjectOf(request)).then((decision) => {
        reply.header('ratelimit-policy', said);
        done(applyDecision(policy, decision, reply));
      }, failClosed(done));
    },
  ];
}

function countedBy({ http, access }: RoutedRpc, rates: RatePolicies) {
  const perAddress = (request: FastifyRequest) => clientSubject(request.ip);
  const perKey = (request: FastifyRequest) => principalOf(request)?.keyId ?? perAddress(request);
  if (access.relation !== 'public') return [rates.key, perKey] as const;
  return [http.path.startsWith('/auth') ? rates.signIn : rates.address, perAddress] as const;
}

const policyText = ({ name, burst, perSecond }: RatePolicy): string =>
  `"${name}";q=${burst};w=${Math.ceil(burst / perSecond)}`;

/** Says what is left, in the headers of draft-ietf-httpapi-ratelimit-headers. Gives `rate_limited` for a request beyond it. */
function applyDecision(
  { name }: RatePolicy,
  { allowed, remaining, waitSeconds, fullSeconds }: RateDecision,
  reply: FastifyReply,
): ServiceError | undefined {
  const seconds = Math.ceil(allowed ? fullSeconds : waitSeconds);
  reply.header('ratelimit', `"${name}";r=${remaining};t=${seconds}`);
  if (allowed) return undefined;
  return new ServiceError('rate_limited', undefined, { facts: { retryAfterSeconds: seconds } });
}
