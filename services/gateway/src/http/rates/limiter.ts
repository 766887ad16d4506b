import type { Clock, Health, Logger, Resources } from '@orrery/service-kit';
import { LRUCache } from 'lru-cache';
import { type Bucket, type RateLimiter, takeToken } from '../../core/rates/token-bucket.js';

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
