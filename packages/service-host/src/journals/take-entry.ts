import type { JournalFact } from '@orrery/contracts';
import {
  advance,
  attemptsOf,
  classifyPostgresError,
  countAttempt,
  firstDeadLetter,
  type InboxPosition,
  type InboxStep,
  positionOf,
  transaction,
} from '@orrery/database';
import { createSemaphore } from '@orrery/service-kit';
import type { FollowJournalOptions } from './options.js';

type TakeDependencies<Schema> = Pick<
  FollowJournalOptions<Schema>,
  'consumer' | 'database' | 'handle' | 'signal'
> & { readonly maxAttempts: number };

/** `stopped`: a dead letter stops the deployment. */
type Step = InboxStep | 'stopped';

/**
 * Moves the consumer's position by an entry and handles it, in one transaction.
 * @throws EntryFailed, or the error that says that the database is away
 */
export type TakeEntry = (entry: JournalFact) => Promise<Step>;

/**
 * Handles consecutive entries of a deployment in one transaction. Resolves with false where that is not possible, and
 * nothing has happened then: they have to be taken one by one, which tells which of them fails, and counts it.
 * @throws the error that says that the database is away
 */
export type TakeTogether = (entries: readonly JournalFact[]) => Promise<boolean>;

export interface Takes {
  readonly take: TakeEntry;
  readonly takeTogether: TakeTogether;
}

/** The entry could not be handled; `cause` says why. */
export class EntryFailed extends Error {
  override readonly name = 'EntryFailed';

  constructor(
    readonly entry: JournalFact,
    cause: unknown,
    /** No further attempt is made. */
    readonly isFinal: boolean,
    /** Of an entry that replaces what was handled: where the consumer stood. */
    readonly stoodAt?: InboxPosition,
  ) {
    super(`entry ${entry.seq} of ${entry.deployment} was not handled`, { cause });
  }

  get reason(): string {
    return this.cause instanceof Error ? this.cause.message : String(this.cause);
  }
}

/** Rolls back the transaction of an entry whose deployment is stopped. */
class Stopped extends Error {}

/** Rolls back the transaction of entries that are not the next ones. */
class NotNext extends Error {}

/** Deployments remembered at once. One that is forgotten costs its next entry two more statements. */
const MAX_KNOWN = 100_000;

/**
 * Attempts at an entry are counted in the database, so that entries that end the process count too: before the handling
 * of each entry that failed, and of the first entry that this process takes of a deployment, since another process may
 * have ended at it. Other entries cost nothing more; their first failure is counted afterwards. An entry that was begun
 * before is handled with no other such entry beside it, so that it takes no others along when it ends the process.
 */
export function createTakes<Schema>({
  consumer,
  database: { db },
  handle,
  maxAttempts,
  signal,
}: TakeDependencies<Schema>): Takes {
  const streamOf = ({ deployment }: JournalFact) => ({ consumer, key: deployment });
  const known = new Set<string>();
  /** `passing`: the last attempt was counted, but failed because the database was away. */
  const failing = new Map<string, 'counted' | 'passing'>();
  const begunBefore = createSemaphore(1);

  const inTransaction: TakeEntry = async (entry) => {
    try {
      return await transaction(db, async (trx) => {
        const step = await advance(trx, streamOf(entry), entry.seq, entry);
        if (step === 'seen') return step;
        // After `advance`, which locks the position: no process can store a dead letter between this and the commit.
        if ((await firstDeadLetter(trx, streamOf(entry))) !== undefined) throw new Stopped();
        if (step === 'next') await handle(trx, entry);
        return step;
      });
    } catch (error) {
      if (error instanceof Stopped) return 'stopped';
      if (error instanceof EntryFailed || isPassing(error)) throw error;
      throw new EntryFailed(entry, error, false);
    }
  };
  const countedAfter: TakeEntry = async (entry) => {
    try {
      return await inTransaction(entry);
    } catch (error) {
      if (!(error instanceof EntryFailed) || error.isFinal || signal.aborted) throw error;
      failing.set(entry.deployment, 'counted');
      throw withCount(error, await countAttempt(db, streamOf(entry), entry.seq));
    }
  };
  const countedBefore = async (entry: JournalFact, begun: number) => {
    const isCounted = failing.get(entry.deployment) === 'passing';
    const attempts = isCounted ? begun : await countAttempt(db, streamOf(entry), entry.seq);
    if (attempts > maxAttempts) throw new EntryFailed(entry, new Error(endless(maxAttempts)), true);
    try {
      const step = await inTransaction(entry);
      failing.delete(entry.deployment);
      return step;
    } catch (error) {
      failing.set(entry.deployment, error instanceof EntryFailed ? 'counted' : 'passing');
      throw error instanceof EntryFailed ? withCount(error, attempts) : error;
    }
  };
  const withCount = (error: EntryFailed, attempts: number) =>
    new EntryFailed(error.entry, error.cause, error.isFinal || attempts >= maxAttempts);

  const isSound = (deployment: string) => known.has(deployment) && !failing.has(deployment);

  const take: TakeEntry = async (entry) => {
    const { deployment, seq } = entry;
    if (isSound(deployment)) return countedAfter(entry);
    if (known.size >= MAX_KNOWN) known.clear();
    known.add(deployment);
    // Only the next entry can have been begun; the count of another one would replace its count.
    if (seq !== (await positionOf(db, streamOf(entry))).seq + 1) return inTransaction(entry);
    const begun = await attemptsOf(db, streamOf(entry), seq);
    return begun === 0
      ? countedBefore(entry, begun)
      : begunBefore.run(signal, () => countedBefore(entry, begun));
  };
  const takeTogether: TakeTogether = async (entries) => {
    const [first] = entries;
    if (first === undefined || entries.length === 1 || !isSound(first.deployment)) return false;
    try {
      await transaction(db, async (trx) => {
        for (const entry of entries) {
          if ((await advance(trx, streamOf(entry), entry.seq, entry)) !== 'next') throw new NotNext();
          // The first `advance` locks the position until the commit.
          if (entry === first && (await firstDeadLetter(trx, streamOf(entry))) !== undefined)
            throw new Stopped();
          await handle(trx, entry);
        }
      });
      return true;
    } catch (error) {
      if (isPassing(error)) throw error;
      return false;
    }
  };
  return { take, takeTogether };
}

const endless = (attempts: number) => `${attempts} attempts did not come to an end, nor fail.`;

/** What a statement ends with that waited too long for a lock, as behind a migration (PostgreSQL, "Error Codes"). */
const LOCK_NOT_AVAILABLE = '55P03';

/** Whether the database was away, full or busy, which says nothing about the entry. */
const isPassing = (error: unknown): boolean =>
  ['conflict', 'unavailable', 'storage_full', 'unknown_outcome'].includes(
    classifyPostgresError(error).kind,
  ) || (error as { readonly code?: unknown } | null | undefined)?.code === LOCK_NOT_AVAILABLE;
