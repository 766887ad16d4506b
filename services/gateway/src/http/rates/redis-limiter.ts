import type { Logger } from '@orrery/service-kit';
import { Redis } from 'ioredis';
import { decisionOf, type RateLimiter } from '../../core/rates/token-bucket.js';

/** The token bucket in one step, by the clock of Redis. A bucket expires when it would be full again. */
const TAKE = `
local burst, rate = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local known = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens = burst
if known[1] then
  tokens = math.min(burst, tonumber(known[1]) + math.max(0, now - tonumber(known[2])) / 1000 * rate)
end
local allowed = tokens >= 1
if allowed then tokens = tokens - 1 end
redis.call('HSET', KEYS[1], 'tokens', tostring(tokens), 'at', now)
redis.call('PEXPIRE', KEYS[1], math.ceil((burst - tokens) / rate * 1000) + 1000)
return { allowed and 1 or 0, tostring(tokens) }
`;

interface WithTake {
  takeToken(key: string, burst: number, perSecond: number): Promise<[allowed: number, tokens: string]>;
}

/** Counts over all replicas. Rejects when Redis does not answer in time. */
export function createRedisLimiter(redis: Redis): RateLimiter {
  redis.defineCommand('takeToken', { numberOfKeys: 1, lua: TAKE });
  const commands = redis as unknown as WithTake;
  return {
    take: async (policy, subject) => {
      const key = `orrery:rate:${policy.name}:${subject}`;
      const [allowed, tokens] = await commands.takeToken(key, policy.burst, policy.perSecond);
      return decisionOf(Number(tokens), allowed === 1, policy);
    },
  };
}

/** Milliseconds after which the request is counted in the process instead. */
const COMMAND_TIMEOUT_MS = 100;

/**
 * A connection that fails at once while Redis is unavailable, and reconnects by itself. The loss and the return are logged
 * once each.
 */
export function connectRedis(
  url: string,
  logger: Logger,
  commandTimeoutMs: number = COMMAND_TIMEOUT_MS,
): Redis {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    enableAutoPipelining: true,
    maxRetriesPerRequest: 0,
    commandTimeout: commandTimeoutMs,
    connectTimeout: 2000,
    retryStrategy: (tries) => Math.min(tries * 100, 2000),
  });
  let isAway = false;
  redis.on('error', (error: Error) => {
    if (!isAway) logger.warn({ err: error }, 'Redis unavailable; rate limits count per process');
    isAway = true;
  });
  redis.on('ready', () => {
    if (isAway) logger.info('Redis available again; rate limits are shared');
    isAway = false;
  });
  return redis;
}
