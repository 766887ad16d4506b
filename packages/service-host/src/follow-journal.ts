import { type Bus, serviceCall, type Verdict } from '@orrery/bus';
import { type JournalFact, type JsonValue, journalEntry, runtimeContract } from '@orrery/contracts';
import {
  advance,
  classifyPostgresError,
  type Database,
  type DeadLetter,
  firstDeadLetter,
  type InboxStep,
  lastSeq,
  putDeadLetter,
  removeDeadLetter,
  startAt,
  transaction,
} from '@orrery/database';
import { backoffDelay, type Clock, type Logger } from '@orrery/service-kit';
import type { Transaction } from 'kysely';

export interface FollowJournalOptions<Schema> {
  /** The following service, as in the calls that it makes. */
  readonly service: string;
  /** Durable name of the consumer on the bus, and of its rows in the inbox tables. */
  readonly consumer: string;
  /** Its schema has the tables of `inboxMigration`. */
  readonly database: Pick<Database<Schema>, 'db'>;
  readonly bus: Pick<Bus, 'call' | 'consume'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * The effect of one entry, in the transaction that moves the consumer's position. It may run several times, so it has
   * no effect outside the transaction, and it does not wait for the network.
   */
  readonly handle: (trx: Transaction<Schema>, entry: JournalFact) => Promise<void>;
  /** Failed attempts, counted by each process, after which an entry becomes a dead letter. Default 10. */
  readonly maxAttempts?: number;
  /** Pause after the first failed attempt, in milliseconds; it doubles up to a minute. Default 500. */
  readonly retryBaseMs?: number;
  /** Ends the following; an entry in work is finished. */
  readonly signal: AbortSignal;
}

/** For an operator: what stops this consumer for a deployment, and two ways to go on. */
export interface JournalFollower {
  /** The entry that stops the deployment, or undefined. */
  deadLetter(deployment: string): Promise<DeadLetter | undefined>;
  /**
   * Handles the entry again, then the later ones. Resolves with false when no dead letter stops the deployment.
   * @throws what the handler threw: the entry, or a later one, is then a dead letter.
   */
  retry(deployment: string): Promise<boolean>;
  /** Leaves the entry out for good and handles the later ones. Resolves and rejects as `retry`. */
  skip(deployment: string): Promise<boolean>;
}

const MAX_ATTEMPTS = 10;
const RETRY = { baseMs: 500, maxMs: 60_000 };

/**
 * Follows the journals of all deployments. Each entry has its effect once, in the order of `seq`:
 *
 *   next ─ handled ─→ position and effect are committed together
 *   seen ─→ acknowledged
 *   gap ─ missing entries are read from the runtime (`journal.range`) and handled ─→ then this one
 *   handler failed ─ fewer than `maxAttempts` ─→ sent back, and later entries of the deployment with it
 *   handler failed ─ for the last time ─→ dead letter: stops this consumer for this deployment alone
 *   stopped ─→ acknowledged; `retry` or `skip` reads the later entries from the runtime
 *
 * While the database or the runtime is away, entries are sent back without limit: that is no failure of an entry.
 */
export async function followJournal<Schema>(options: FollowJournalOptions<Schema>): Promise<JournalFollower> {
  const { consumer, database, bus, logger, maxAttempts = MAX_ATTEMPTS, retryBaseMs, signal } = options;
  const { db } = database;
  const backoff = { ...RETRY, baseMs: retryBaseMs ?? RETRY.baseMs };
  const failures = createFailureCounts();
  const take = createTake(options);
  const catchUp = createCatchUp(options, take);

  const takeDelivered = async (entry: JournalFact): Promise<void> => {
    if ((await take(entry)) !== 'gap') return;
    await catchUp(entry.deployment);
    if ((await take(entry)) === 'gap') throw new Error('the runtime does not know all earlier entries');
  };
  const afterFailure = async (error: unknown, delivered: JournalFact, attempt: number): Promise<Verdict> => {
    const { deployment, seq } = error instanceof EntryFailed ? error.entry : delivered;
    const failed = error instanceof EntryFailed ? failures.add(deployment, seq) : 0;
    logger.warn({ err: error, consumer, deployment, seq, failed }, 'a journal entry was not handled');
    if (!(error instanceof EntryFailed) || failed < maxAttempts)
      return { retryInMs: backoffDelay(attempt, backoff) };
    await putAside(error);
    return 'ack';
  };
  /** Makes the entry a dead letter, unless another process has handled it meanwhile. */
  const putAside = async ({ entry, reason }: EntryFailed) => {
    const { deployment, seq } = entry;
    const stream = { consumer, key: deployment };
    const letter = { seq, reason, payload: entry as JsonValue };
    await transaction(db, async (trx) => {
      await startAt(trx, stream, 0); // locks the position
      if ((await lastSeq(trx, stream)) < seq) await putDeadLetter(trx, stream, letter);
    });
    failures.clear(deployment);
    logger.error({ consumer, deployment, seq, reason }, 'a journal entry is a dead letter');
  };
  const resume = async (deployment: string, after: 'retry' | 'skip'): Promise<boolean> => {
    const stream = { consumer, key: deployment };
    const removed = await transaction(db, async (trx) => {
      const letter = await firstDeadLetter(trx, stream);
      if (letter === undefined) return false;
      if (after === 'skip') await startAt(trx, stream, letter.seq);
      return removeDeadLetter(trx, stream, letter.seq);
    });
    if (!removed) return false;
    await catchUp(deployment).catch(async (error: unknown) => {
      if (error instanceof EntryFailed) await putAside(error);
      throw error instanceof EntryFailed ? error.cause : error;
    });
    return true;
  };

  await bus.consume(journalEntry, {
    consumer,
    handle: (entry, { attempt }) =>
      takeDelivered(entry).then(
        () => {
          failures.clear(entry.deployment);
          return 'ack' as const;
        },
        (error: unknown) => afterFailure(error, entry, attempt),
      ),
    // Attempts are counted here. The bus makes dead letters of unreadable messages only; the next entry finds the gap.
    maxAttempts: Number.MAX_SAFE_INTEGER,
    signal,
  });
  return {
    deadLetter: (deployment) => firstDeadLetter(db, { consumer, key: deployment }),
    retry: (deployment) => resume(deployment, 'retry'),
    skip: (deployment) => resume(deployment, 'skip'),
  };
}

/** `stopped`: a dead letter stops the deployment. */
type Step = InboxStep | 'stopped';
type Take = (entry: JournalFact) => Promise<Step>;

/** Rolls back the transaction of an entry whose deployment is stopped. */
class Stopped extends Error {}

/** The entry could not be handled; `cause` says why. */
class EntryFailed extends Error {
  constructor(
    readonly entry: JournalFact,
    cause: unknown,
  ) {
    super(`entry ${entry.seq} of ${entry.deployment} was not handled`, { cause });
  }

  get reason(): string {
    return this.cause instanceof Error ? this.cause.message : String(this.cause);
  }
}

/** Moves the position and handles the entry, in one transaction. @throws EntryFailed, or that the database is away */
function createTake<Schema>({ consumer, database, handle }: FollowJournalOptions<Schema>): Take {
  return async (entry) => {
    const stream = { consumer, key: entry.deployment };
    try {
      return await transaction(database.db, async (trx) => {
        const step = await advance(trx, stream, entry.seq);
        if (step === 'seen') return step;
        // After `advance`, which locks the position: no process can store a dead letter between this and the commit.
        if ((await firstDeadLetter(trx, stream)) !== undefined) throw new Stopped();
        if (step === 'next') await handle(trx, entry);
        return step;
      });
    } catch (error) {
      if (error instanceof Stopped) return 'stopped';
      throw isPassing(error) ? error : new EntryFailed(entry, error);
    }
  };
}

/** Whether the database was away, full or busy, which says nothing about the entry. */
const isPassing = (error: unknown): boolean =>
  ['conflict', 'unavailable', 'storage_full', 'unknown_outcome'].includes(classifyPostgresError(error).kind);

const RANGE_TIMEOUT_MS = 10_000;
/** Entries of one `journal.range`. */
const PAGE = 100;

/** Reads the entries after the position from the runtime, to the head of the journal, and takes them in order. */
function createCatchUp<Schema>(
  { service, consumer, database, bus, clock, signal }: FollowJournalOptions<Schema>,
  take: Take,
) {
  const after = (deployment: string) =>
    transaction(database.db, (trx) => lastSeq(trx, { consumer, key: deployment }));
  return async (deployment: string): Promise<void> => {
    while (!signal.aborted) {
      const { entries, head } = await bus.call(
        runtimeContract.rpcs['journal.range'],
        { deployment, after: await after(deployment), limit: PAGE },
        serviceCall(service, clock, RANGE_TIMEOUT_MS, signal),
      );
      for (const entry of entries) if ((await take(entry)) === 'stopped') return;
      const last = entries.at(-1);
      if (last === undefined || last.seq >= head) return;
    }
  };
}

/** How often the next entry of a deployment has failed in this process. */
function createFailureCounts() {
  const counts = new Map<string, { seq: number; count: number }>();
  return {
    add: (deployment: string, seq: number): number => {
      const before = counts.get(deployment);
      const count = before?.seq === seq ? before.count + 1 : 1;
      counts.set(deployment, { seq, count });
      return count;
    },
    clear: (deployment: string): void => void counts.delete(deployment),
  };
}
