import { type Database, toServiceError } from '@orrery/database';
import { type Clock, retry } from '@orrery/service-kit';
import type { AppendOutcome, Fact, FactLog } from '../../transport.js';
import { storeFacts } from './store-facts.js';

export interface AppendDependencies {
  readonly pool: Database<unknown>['pool'];
  readonly clock: Clock;
  /** Told the subject of what has been stored. */
  readonly onStored: (subject: string) => void;
}

interface Pending {
  readonly subject: string;
  readonly facts: readonly Fact[];
  settle(outcome: AppendOutcome): void;
}

const ATTEMPTS = { attempts: 4, baseMs: 100, maxMs: 1000 };
/** What is waiting goes with one statement up to this many facts; what came as one is not divided. */
const MAX_BATCH = 200;

/**
 * Stores facts, one statement at a time: what comes meanwhile goes with the next one. With a single writer
 * the numbers become visible in their order, so that a reader who has seen one never misses a smaller one.
 */
export function createAppend({ pool, clock, onStored }: AppendDependencies): FactLog['append'] {
  const pending: Pending[] = [];
  let writing = false;

  const writeAll = async () => {
    writing = true;
    while (pending.length > 0) {
      const batch = takeBatch(pending);
      const outcome = await retry(() => storeFacts(pool, batch), ATTEMPTS, { clock }).then(
        () => undefined,
        toServiceError,
      );
      for (const { settle } of batch) settle(outcome);
      if (outcome === undefined)
        for (const subject of new Set(batch.map((one) => one.subject))) onStored(subject);
    }
    writing = false;
  };

  return (subject, facts) =>
    new Promise((resolve) => {
      pending.push({ subject, facts, settle: (outcome) => resolve(facts.map(() => outcome)) });
      if (!writing) void writeAll();
    });
}

function takeBatch(pending: Pending[]): Pending[] {
  let facts = 0;
  const end = pending.findIndex((one, index) => {
    facts += one.facts.length;
    return index > 0 && facts > MAX_BATCH;
  });
  return pending.splice(0, end < 0 ? pending.length : end);
}
