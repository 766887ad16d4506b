import { ServiceError } from '@orrery/contracts';
import type { Clock, Health, Logger, Resources } from '@orrery/service-kit';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { LRUCache } from 'lru-cache';
import { clientSubject } from '../../core/clients/clients.js';
import {
  type Bucket,
  type RateDecision,
  type RateLimiter,
  type RatePolicies,
  type RatePolicy,
  takeToken,
} from '../../core/rates/token-bucket.js';
import type { RoutedRpc } from '../../core/requests/operation.js';
import { failClosed, principalOf } from '../access/access.js';

export interface RateContext {
  limiter: RateLimiter;
  /** Undefined: nothing is limited. */
  rates: RatePolicies | undefined;
}

const perAddress = (request: FastifyRequest) => clientSubject(request.ip);
const perKey = (request: FastifyRequest) => principalOf(request)?.keyId ?? perAddress(request);

/** The rate limit of a route: per key under `/api`, per client address elsewhere. */
export const limitRate = (rpc: RoutedRpc, context: RateContext): onRequestHookHandler[] =>
  limitBy(countedBy(rpc), context);

/** A limit by its name: per key, or per client address. */
export function limitBy(name: keyof RatePolicies, { limiter, rates }: RateContext): onRequestHookHandler[] {
  if (rates === undefined) return [];
  const policy = rates[name];
  const subjectOf = name === 'key' ? perKey : perAddress;
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

function countedBy({ http, access }: RoutedRpc): keyof RatePolicies {
  if (access.relation !== 'public') return 'key';
  if (http.path.startsWith('/auth')) return 'signIn';
  if (http.opens === 'history.verify') return 'verification';
  return http.method === 'GET' ? 'reading' : 'address';
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

export interface LimiterContext {
  redisUrl: string | undefined;
  clock: Clock;
  logger: Logger;
  health: Health;
  resources: Resources;
  /** A request that Redis does not count within this time is counted in the process, in milliseconds. Default 100. */
  commandTimeoutMs?: number;
}

/** Shared by all replicas with Redis. Per process without it, and while it is unavailable. */
export async function startLimiter({
  redisUrl,
  clock,
  logger,
  health,
  resources,
  commandTimeoutMs,
}: LimiterContext): Promise<RateLimiter> {
  const local = createLocalLimiter(clock);
  if (redisUrl === undefined) return local;
  // Loaded only with Redis, so that a start without it does not wait for its client.
  const { connectRedis, createRedisLimiter } = await import('./redis-limiter.js');
  const redis = connectRedis(redisUrl, logger, commandTimeoutMs);
  resources.add('redis', () => redis.disconnect());
  const isUp = () => redis.status === 'ready';
  const away = { status: 'degraded', detail: 'rate limits count per process' } as const;
  resources.add(
    'redis check',
    health.register('gateway redis', () => (isUp() ? { status: 'ok' } : away)),
  );
  return withFallback(createRedisLimiter(redis), local);
}

/** Counts in the shared limiter, and in this process while that one fails: no request is lost for a counter. */
export const withFallback = (shared: RateLimiter, local: RateLimiter): RateLimiter => ({
  take: (policy, subject) => shared.take(policy, subject).catch(() => local.take(policy, subject)),
});

/** Subjects that are remembered; the least recently seen is forgotten first. */
const MAX_SUBJECTS = 50_000;

/** Counts in this process alone. */
export function createLocalLimiter(clock: Clock): RateLimiter {
  const buckets = new LRUCache<string, Bucket>({ max: MAX_SUBJECTS });
  return {
    take: async (policy, subject) => {
      const name = `${policy.name}:${subject}`;
      const { bucket, decision } = takeToken(buckets.get(name), policy, clock.monotonic());
      buckets.set(name, bucket);
      return decision;
    },
  };
}
