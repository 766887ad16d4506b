import type { Clock } from '@orrery/service-kit';
import { LRUCache } from 'lru-cache';
import type { RateLimiter } from './rate-policy.js';
import { type Bucket, takeToken } from './token-bucket.js';

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
