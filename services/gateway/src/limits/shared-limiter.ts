import type { RateLimiter } from './rate-policy.js';

/** Counts where all replicas count, and in this process while that place is away: never a request lost for a counter. */
export const withFallback = (shared: RateLimiter, local: RateLimiter): RateLimiter => ({
  take: (policy, subject) => shared.take(policy, subject).catch(() => local.take(policy, subject)),
});
