import { ServiceError } from '@orrery/contracts';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { clientSubject } from '../../core/clients/clients.js';
import type { RateDecision, RateLimiter, RatePolicies, RatePolicy } from '../../core/rates/token-bucket.js';
import type { RoutedRpc } from '../../core/requests/operation.js';
import { failClosed, principalOf } from '../access/access.js';

export interface RateContext {
  limiter: RateLimiter;
  /** Undefined: nothing is limited. */
  rates: RatePolicies | undefined;
}

/** The rate limit of a route: per key under `/api`, per client address elsewhere. */
export function limitRate(rpc: RoutedRpc, { limiter, rates }: RateContext): onRequestHookHandler[] {
  if (rates === undefined) return [];
  const [policy, subjectOf] = countedBy(rpc, rates);
  const policyHeader = policyText(policy);
  return [
    // With `done`, which saves each request a promise for this hook.
    (request, reply, done) => {
      limiter.take(policy, subjectOf(request)).then((decision) => {
        reply.header('ratelimit-policy', policyHeader);
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

/** Sets the headers of draft-ietf-httpapi-ratelimit-headers. Returns `rate_limited` for a request beyond the limit. */
export function applyDecision(
  { name }: RatePolicy,
  { allowed, remaining, waitSeconds, fullSeconds }: RateDecision,
  reply: FastifyReply,
): ServiceError | undefined {
  const seconds = Math.ceil(allowed ? fullSeconds : waitSeconds);
  reply.header('ratelimit', `"${name}";r=${remaining};t=${seconds}`);
  if (allowed) return undefined;
  return new ServiceError('rate_limited', undefined, { facts: { retryAfterSeconds: seconds } });
}
