import { type Batcher, createBatcher } from '@orrery/service-kit';

/** Outcomes that one statement records. */
const AT_ONCE = 200;
/** After a statement that recorded so many, the next one begins no earlier than this, in milliseconds. */
const MANY = 4;
const REST_MS = 50;

/**
 * Records outcomes, many with one statement: those that come while one is under way share the next. When many come, they
 * are also collected for a while, because a statement for a few costs the database nearly as much as one for all of them.
 * An outcome that comes alone is recorded at once. The time is the real one: it bounds work, and nothing is due by it.
 */
export function recordTogether<Outcome>(
  record: (outcomes: readonly Outcome[]) => Promise<void>,
): Batcher<Outcome, null> {
  let restUntil = 0;
  return createBatcher({
    maxBatch: AT_ONCE,
    ready: () => {
      const left = restUntil - performance.now();
      return left > 0 ? new Promise<void>((resolve) => setTimeout(resolve, left)) : undefined;
    },
    load: async (outcomes: readonly Outcome[]) => {
      await record(outcomes).finally(() => {
        restUntil = outcomes.length < MANY ? 0 : performance.now() + REST_MS;
      });
      return outcomes.map(() => null);
    },
  });
}
