/** Variables for whoever runs the tests. */
export interface TestEnvironment {
  /** `TEST_NATS_URL`: a running server with JetStream to use. */
  readonly natsUrl: string | undefined;
  /** `TEST_REDIS_URL`. */
  readonly redisUrl: string | undefined;
  /** `REQUIRE_BACKENDS=1`: a missing backend is a failure, not a skip. */
  readonly requireBackends: boolean;
  readonly path: string;
}

export function readTestEnvironment(env: NodeJS.ProcessEnv = process.env): TestEnvironment {
  return {
    natsUrl: env.TEST_NATS_URL || undefined,
    redisUrl: env.TEST_REDIS_URL || undefined,
    requireBackends: env.REQUIRE_BACKENDS === '1',
    path: env.PATH ?? '',
  };
}
