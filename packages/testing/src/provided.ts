/** A backend as the global setup hands it to the tests: where it is, or why there is none. */
export type Backend =
  | { readonly url: string; readonly missing?: never }
  | { readonly url?: never; readonly missing: string };

declare module 'vitest' {
  export interface ProvidedContext {
    /** The `postgres` database of the run's server; tests make their own with `createTestDatabase`. */
    postgresUrl: string;
    nats: Backend;
    redis: Backend;
  }
}
