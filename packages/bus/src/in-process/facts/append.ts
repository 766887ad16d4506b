import { toServiceError } from '@orrery/database';
import { type Clock, retry } from '@orrery/service-kit';
import type { Kysely } from 'kysely';
import type { Fact, FactLog } from '../../transport.js';
import type { BusSchema } from './schema.js';

export interface AppendDependencies {
  readonly db: Kysely<BusSchema>;
  readonly clock: Clock;
  /** Told the subject of what has been stored. */
  readonly onStored: (subject: string) => void;
}

interface Pending {
  readonly subject: string;
  readonly fact: Fact;
  resolve(): void;
  reject(error: unknown): void;
}

const ATTEMPTS = { attempts: 4, baseMs: 100, maxMs: 1000 };
const MAX_BATCH = 200;

/**
 * Stores facts, one statement at a time: what comes meanwhile goes with the next one. With a single writer
 * the numbers become visible in their order, so that a reader who has seen one never misses a smaller one.
 */
export function createAppend({ db, clock, onStored }: AppendDependencies): FactLog['append'] {
  const pending: Pending[] = [];
  let writing = false;

  const writeAll = async () => {
    writing = true;
    for (let batch = pending.splice(0, MAX_BATCH); batch.length > 0; batch = pending.splice(0, MAX_BATCH)) {
      try {
        await retry(() => store(db, batch), ATTEMPTS, { clock });
        for (const { resolve } of batch) resolve();
        for (const subject of new Set(batch.map((one) => one.subject))) onStored(subject);
      } catch (error) {
        for (const { reject } of batch) reject(toServiceError(error));
      }
    }
    writing = false;
  };

  return (subject, fact) =>
    new Promise((resolve, reject) => {
      pending.push({ subject, fact, resolve, reject });
      if (!writing) void writeAll();
    });
}

async function store(db: Kysely<BusSchema>, batch: readonly Pending[]): Promise<void> {
  const rows = batch.map(({ subject, fact: { id, key, headers, body } }) => ({
    subject,
    id,
    ordering_key: key ?? null,
    headers: JSON.stringify(headers),
    body,
  }));
  const sameId = ['subject', 'id'] as const;
  await db
    .insertInto('message')
    .values(rows)
    .onConflict((conflict) => conflict.columns(sameId).doNothing())
    .execute();
}
