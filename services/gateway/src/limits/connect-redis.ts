import type { Logger } from '@orrery/service-kit';
import { Redis } from 'ioredis';

/** A counter that takes longer than this is not worth waiting for, in milliseconds. */
const COMMAND_TIMEOUT_MS = 100;

/**
 * A connection that fails at once while Redis is away, and comes back by itself. Its loss is said once, and so is its
 * return: Redis holds nothing that cannot be lost.
 */
export function connectRedis(url: string, logger: Logger): Redis {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    enableAutoPipelining: true,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_TIMEOUT_MS,
    connectTimeout: 2000,
    retryStrategy: (attempt) => Math.min(attempt * 100, 2000),
  });
  let isAway = false;
  redis.on('error', (error: Error) => {
    if (!isAway) logger.warn({ err: error }, 'Redis is away: rate limits count per process until it is back');
    isAway = true;
  });
  redis.on('ready', () => {
    if (isAway) logger.info('Redis is back: rate limits are shared again');
    isAway = false;
  });
  return redis;
}
