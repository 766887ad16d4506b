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
  /** `/app`, per client address, before the signature is checked. */
  readonly address: RatePolicy;
  /** `/app`, per wallet and deployment, after it. */
  readonly wallet: RatePolicy;
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
