import { ServiceError } from '@orrery/contracts';
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import { principalOf } from '../http/request-principal.js';
import type { RoutedRpc } from '../http/routed-rpc.js';
import { clientSubject } from '../limits/client-subject.js';
import type { RateDecision, RateLimiter, RatePolicies, RatePolicy } from '../limits/rate-policy.js';

export interface RateContext {
  limiter: RateLimiter;
  /** Undefined: nothing is limited. */
  rates: RatePolicies | undefined;
}

/** The guard that belongs to a route: per key under `/api`, per client address elsewhere (decisions §8). */
export function limitRate(rpc: RoutedRpc, { limiter, rates }: RateContext): onRequestAsyncHookHandler[] {
  if (rates === undefined) return [];
  const [policy, subjectOf] = countedBy(rpc, rates);
  return [
    async (request, reply) => {
      const decision = await limiter.take(policy, subjectOf(request));
      applyDecision(policy, decision, reply);
    },
  ];
}

function countedBy({ http, access }: RoutedRpc, rates: RatePolicies) {
  const perAddress = (request: FastifyRequest) => clientSubject(request.ip);
  const perKey = (request: FastifyRequest) => principalOf(request)?.keyId ?? perAddress(request);
  if (access.relation !== 'public') return [rates.key, perKey] as const;
  return [http.path.startsWith('/auth') ? rates.signIn : rates.address, perAddress] as const;
}

/** Says what is left, in the headers of draft-ietf-httpapi-ratelimit-headers. @throws ServiceError `rate_limited`. */
function applyDecision(policy: RatePolicy, decision: RateDecision, reply: FastifyReply): void {
  const window = Math.ceil(policy.burst / policy.perSecond);
  const { allowed, remaining, waitSeconds, fullSeconds } = decision;
  const seconds = Math.ceil(allowed ? fullSeconds : waitSeconds);
  reply.headers({
    'ratelimit-policy': `"${policy.name}";q=${policy.burst};w=${window}`,
    ratelimit: `"${policy.name}";r=${remaining};t=${seconds}`,
  });
  if (!allowed) throw new ServiceError('rate_limited', undefined, { facts: { retryAfterSeconds: seconds } });
}
