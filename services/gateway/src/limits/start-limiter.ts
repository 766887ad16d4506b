import type { Clock, Health, Logger, Resources } from '@orrery/service-kit';
import { createLocalLimiter } from './local-limiter.js';
import type { RateLimiter } from './rate-policy.js';
import { createRedisLimiter } from './redis-limiter.js';
import { withFallback } from './shared-limiter.js';

export interface LimiterContext {
  redisUrl: string | undefined;
  clock: Clock;
  logger: Logger;
  health: Health;
  resources: Resources;
}

/** Shared over the replicas when there is a Redis, else (and while it is away) per process. */
export async function startLimiter({
  redisUrl,
  clock,
  logger,
  health,
  resources,
}: LimiterContext): Promise<RateLimiter> {
  const local = createLocalLimiter(clock);
  if (redisUrl === undefined) return local;
  // Loaded when it is used: without Redis a start need not wait for its client.
  const { connectRedis } = await import('./connect-redis.js');
  const redis = connectRedis(redisUrl, logger);
  resources.add('redis', () => redis.disconnect());
  const isUp = () => redis.status === 'ready';
  const away = { status: 'degraded', detail: 'rate limits count per process' } as const;
  resources.add(
    'redis check',
    health.register('gateway redis', () => (isUp() ? { status: 'ok' } : away)),
  );
  return withFallback(createRedisLimiter(redis), local);
}
