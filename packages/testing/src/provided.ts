/** A backend as the global setup provides it to tests. */
export interface Backend {
  /** Its URL; empty if there is none. */
  readonly url: string;
  /** Why there is none. */
  readonly missing?: string;
  /** Why a test cannot start, kill and restart servers of its own. */
  readonly noOwn?: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** The `postgres` database of the run's server; tests make their own with `createTestDatabase`. */
    postgresUrl: string;
    nats: Backend;
    redis: Backend;
  }
}
