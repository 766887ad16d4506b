import type { RateDecision, RatePolicy } from './rate-policy.js';

export interface Bucket {
  tokens: number;
  /** Ms since epoch of the last request. */
  at: number;
}

/** Refills a bucket up to `now` and takes one token, if there is one. A new subject's bucket is full. */
export function takeToken(
  bucket: Bucket | undefined,
  { burst, perSecond }: RatePolicy,
  now: number,
): { bucket: Bucket; decision: RateDecision } {
  const elapsed = bucket === undefined ? 0 : Math.max(0, now - bucket.at) / 1000;
  const full = bucket === undefined ? burst : Math.min(burst, bucket.tokens + elapsed * perSecond);
  const allowed = full >= 1;
  const tokens = allowed ? full - 1 : full;
  return { bucket: { tokens, at: now }, decision: decisionOf(tokens, allowed, { burst, perSecond }) };
}

/** The decision that follows from the remaining tokens. */
export const decisionOf = (
  tokens: number,
  allowed: boolean,
  { burst, perSecond }: Pick<RatePolicy, 'burst' | 'perSecond'>,
): RateDecision => ({
  allowed,
  remaining: Math.floor(tokens),
  waitSeconds: tokens >= 1 ? 0 : (1 - tokens) / perSecond,
  fullSeconds: (burst - tokens) / perSecond,
});
