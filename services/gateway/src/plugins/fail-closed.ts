import { ServiceError } from '@orrery/contracts';

/** What a guard with `done` does with a rejection: without an error at all `done` would let the request pass. */
export const failClosed =
  (done: (error: Error) => void) =>
  (error: unknown): void =>
    done(error instanceof Error ? error : new ServiceError('internal', undefined, { cause: error }));
