/** An allowance: a bucket of `burst` requests that refills steadily. */
export interface RatePolicy {
  /** Its name in the `RateLimit` headers. */
  readonly name: string;
  readonly burst: number;
  readonly perSecond: number;
}

export interface RatePolicies {
  /** `/api`, per key. */
  readonly key: RatePolicy;
  /** Executions under `/app`, per client address, before the signature is checked. */
  readonly address: RatePolicy;
  /** Reading under `/app`, per client address. */
  readonly reading: RatePolicy;
  /** Verifying a history under `/app`, per client address. */
  readonly verification: RatePolicy;
  /** `/app`, per wallet and deployment, after it. */
  readonly wallet: RatePolicy;
  /** Signatures that the node of a chain is asked about, per client address. */
  readonly node: RatePolicy;
  /** `/auth`, per client address. */
  readonly signIn: RatePolicy;
}

/** `count` requests a minute. All of them may come at once. */
export const perMinute = (name: string, count: number): RatePolicy => ({
  name,
  burst: count,
  perSecond: count / 60,
});

export interface RateDecision {
  readonly allowed: boolean;
  /** Requests that may follow immediately. */
  readonly remaining: number;
  /** Seconds until the next request is allowed; 0 if it is allowed now. */
  readonly waitSeconds: number;
  /** Seconds until the bucket is full again. */
  readonly fullSeconds: number;
}

export interface RateLimiter {
  /** Takes a token from the subject's bucket, if it has one. */
  take(policy: RatePolicy, subject: string): Promise<RateDecision>;
}

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
