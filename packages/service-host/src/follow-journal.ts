import { setMaxListeners } from 'node:events';
import { type Bus, serviceCall } from '@orrery/bus';
import {
  type JournalFact,
  type JsonValue,
  journalEntry,
  type ReplyOf,
  runtimeContract,
  ServiceError,
} from '@orrery/contracts';
import {
  type Database,
  type DeadLetter,
  firstDeadLetter,
  forgetAttempts,
  goOnAfter,
  positionOf,
  putDeadLetter,
  removeDeadLetter,
  startAt,
  streamsElsewhere,
  transaction,
} from '@orrery/database';
import { backoffDelay, type Clock, createSemaphore, type Logger, startPollLoop } from '@orrery/service-kit';
import type { Transaction } from 'kysely';
import { type CatchUp, createCatchUp } from './catch-up.js';
import { createTakeEntry, EntryFailed, type TakeEntry } from './take-entry.js';

export interface FollowJournalOptions<Schema> {
  /** The following service, as in the calls that it makes. */
  readonly service: string;
  /** Durable name of the consumer on the bus, and of its rows in the inbox tables. */
  readonly consumer: string;
  /** Its schema has the tables of `inboxMigration`, `inboxHashes` and `inboxAttempts`. */
  readonly database: Pick<Database<Schema>, 'db'>;
  readonly bus: Pick<Bus, 'call' | 'consume'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * The effect of one entry, in the transaction that moves the consumer's position. It may run several times, so it has
   * no effect outside the transaction, and it does not wait for the network.
   */
  readonly handle: (trx: Transaction<Schema>, entry: JournalFact) => Promise<void>;
  /** Attempts, counted over all processes, after which an entry becomes a dead letter. Default 10. */
  readonly maxAttempts?: number;
  /** Pause after the first failed attempt, in milliseconds; it doubles up to a minute. Default 500. */
  readonly retryBaseMs?: number;
  /** How often the positions are compared with the heads of the journals, in milliseconds. Default 5,000. */
  readonly pollMs?: number;
  /** Deployments that are worked on or wait, above which the heads are read more slowly. Default 5,000. */
  readonly mostAtOnce?: number;
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
  /**
   * Leaves the entry out for good and handles the later ones. Resolves and rejects as `retry`. Where the journal lost
   * entries that were handled (the reason begins with `tail_lost`), the later ones include those that have their numbers.
   */
  skip(deployment: string): Promise<boolean>;
  /** Resolves when the signal has aborted and no entry is in work any more. */
  ended(): Promise<void>;
}

const MAX_ATTEMPTS = 10;
const RETRY = { baseMs: 500, maxMs: 60_000 };
const POLL_MS = 5000;

/**
 * Follows the journals of all deployments. Each entry has its effect once, in the order of `seq`. What the bus delivers is
 * a hint: it is acknowledged after one attempt at most, so no deployment holds deliveries that others wait for. What is
 * missing is read from the runtime, deployment by deployment, by the positions in the database.
 *
 *   delivered, the next one ─→ position and effect are committed together
 *   delivered, or a head is ahead of the position ─→ catch up: `journal.range` to the head of the journal
 *   handler failed ─ fewer than `maxAttempts` ─→ a growing pause, then catch up; the deployment's deliveries are dropped
 *   handler failed ─ for the last time ─→ dead letter: stops this consumer for this deployment alone
 *   the journal does not have what was handled last ─→ dead letter with the reason `tail_lost`
 *   stopped ─→ `retry` or `skip` catches up
 *
 * While the database or the runtime is away, it tries again without limit: that is no failure of an entry.
 */
export async function followJournal<Schema>(options: FollowJournalOptions<Schema>): Promise<JournalFollower> {
  const { consumer, database, bus, clock, logger, maxAttempts = MAX_ATTEMPTS, signal } = options;
  const { db } = database;
  const take = createTakeEntry({ ...options, maxAttempts });
  const catchUp = createCatchUp({ ...options, take });
  const putAside = createPutAside(options);
  const streams = createStreams({ ...options, take, catchUp, putAside });

  const resume = async (deployment: string, after: 'retry' | 'skip'): Promise<boolean> => {
    const stream = { consumer, key: deployment };
    const removed = await transaction(db, async (trx) => {
      const letter = await firstDeadLetter(trx, stream);
      if (letter === undefined) return false;
      const { hash } = letter.payload as unknown as JournalFact;
      if (after === 'skip') await goOnAfter(trx, stream, { seq: letter.seq, hash });
      await forgetAttempts(trx, stream);
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
    handle: async (entry) => {
      await streams.deliver(entry);
      return 'ack';
    },
    signal,
  });
  const poll = startPollLoop({
    name: `journal heads of ${consumer}`,
    intervalMs: options.pollMs ?? POLL_MS,
    runOnce: createHeadPoll(options, streams),
    clock,
    logger,
    signal,
  });
  return {
    deadLetter: (deployment) => firstDeadLetter(db, { consumer, key: deployment }),
    retry: (deployment) => resume(deployment, 'retry'),
    skip: (deployment) => resume(deployment, 'skip'),
    ended: async () => {
      await poll.stop();
      await streams.ended();
    },
  };
}

type PutAside = (failed: EntryFailed) => Promise<void>;

/** Makes an entry a dead letter, unless another process has handled it, or moved on, meanwhile. */
const createPutAside =
  <Schema>({ consumer, database: { db }, logger }: FollowJournalOptions<Schema>): PutAside =>
  async ({ entry, reason, stoodAt }) => {
    const { deployment, seq } = entry;
    const stream = { consumer, key: deployment };
    const letter = { seq, reason, payload: entry as JsonValue };
    await transaction(db, async (trx) => {
      await startAt(trx, stream, 0); // locks the position
      const { seq: last, hash } = await positionOf(trx, stream);
      const isOpen = stoodAt === undefined ? last < seq : last === stoodAt.seq && hash === stoodAt.hash;
      if (isOpen) await putDeadLetter(trx, stream, letter);
    });
    logger.error({ consumer, deployment, seq, reason }, 'a journal entry is a dead letter');
  };

/** Deployments that catch up at once in this process. */
const CATCHING_UP = 16;

interface StreamDependencies
  extends Pick<FollowJournalOptions<never>, 'consumer' | 'clock' | 'logger' | 'retryBaseMs' | 'signal'> {
  readonly take: TakeEntry;
  readonly catchUp: CatchUp;
  readonly putAside: PutAside;
}

/** The deployments that this process works on, or that wait for their next attempt. */
interface Streams {
  /** Tries a delivered entry if nothing else is done for its deployment. Never rejects. */
  deliver(entry: JournalFact): Promise<void>;
  /** Has a deployment catch up, if nothing is done for it already. */
  wake(deployment: string): void;
  readonly count: number;
  /** Those of them that pause after a failure. */
  readonly pausing: number;
  ended(): Promise<void>;
}

/** What an attempt led to; `behind`: entries are missing. */
type Outcome = 'level' | 'behind' | { readonly error: unknown };

function createStreams({
  take,
  catchUp,
  putAside,
  consumer,
  clock,
  logger,
  retryBaseMs,
  signal,
}: StreamDependencies): Streams {
  /** `again`: something came meanwhile. */
  const busy = new Map<string, { again: boolean }>();
  const work = new Set<Promise<void>>();
  let pausing = 0;
  const slots = createSemaphore(CATCHING_UP);
  // Each deployment that waits listens.
  setMaxListeners(0, signal);
  const backoff = { ...RETRY, baseMs: retryBaseMs ?? RETRY.baseMs };

  const enter = (deployment: string) => {
    const known = busy.get(deployment);
    if (known !== undefined) known.again = true;
    else busy.set(deployment, { again: false });
    return known === undefined && !signal.aborted;
  };
  /** Makes a dead letter, or pauses. Resolves with whether to catch up then. */
  const afterFailure = async (deployment: string, error: unknown, failures: number): Promise<boolean> => {
    const seq = error instanceof EntryFailed ? error.entry.seq : undefined;
    logger.warn({ err: error, consumer, deployment, seq, failures }, 'a journal was not followed');
    if (error instanceof EntryFailed && error.isFinal) {
      const isAside = await putAside(error).then(
        () => true,
        () => false,
      );
      if (isAside) return false;
    }
    pausing += 1;
    await clock.sleep(backoffDelay(failures, backoff), signal).finally(() => {
      pausing -= 1;
    });
    return true;
  };
  const goOn = async (deployment: string, first: Outcome) => {
    const stream = busy.get(deployment);
    let failures = 0;
    for (let outcome = first; stream !== undefined && (outcome !== 'level' || stream.again); ) {
      stream.again = false;
      if (typeof outcome === 'object') {
        failures += 1;
        if (!(await afterFailure(deployment, outcome.error, failures))) {
          outcome = 'level';
          continue;
        }
      }
      outcome = await slots.run(signal, () => catchUp(deployment)).then(level, failed);
      if (outcome === 'level') failures = 0;
    }
    busy.delete(deployment);
  };
  const background = (deployment: string, outcome: Outcome) => {
    const going = goOn(deployment, outcome)
      // Only the end of the following.
      .catch(() => undefined)
      .finally(() => work.delete(going));
    work.add(going);
  };
  return {
    get count() {
      return busy.size;
    },
    get pausing() {
      return pausing;
    },
    deliver: async (entry) => {
      if (!enter(entry.deployment)) return;
      background(
        entry.deployment,
        await take(entry).then((step) => (isLevel(step, entry) ? 'level' : 'behind'), failed),
      );
    },
    wake: (deployment) => {
      if (enter(deployment)) background(deployment, 'behind');
    },
    ended: async () => {
      await Promise.all(work);
    },
  };
}

const level = (): Outcome => 'level';
/** Whether the journal itself need not be looked at. A `tail_lost` may take the place of an entry that was handled. */
const isLevel = (step: Awaited<ReturnType<TakeEntry>>, { kind }: JournalFact) =>
  step === 'next' || step === 'stopped' || (step === 'seen' && kind !== 'tail_lost');
const failed = (error: unknown): Outcome => ({ error });

type Heads = (typeof runtimeContract.rpcs)['journal.heads'];
type Cursor = ReplyOf<Heads>['next'];

const CALL_TIMEOUT_MS = 10_000;
/** Heads of one page. */
const HEADS = 500;
/** All journals are looked at this often: a runtime of an older release does not note when they change. */
const WHOLE_PASS_MS = 60 * 60 * 1000;
/**
 * Where more than `most` deployments are worked on or wait, the heads are read on when enough have finished. Deployments
 * that only pause after a failure make it slower and do not stop it: it then reads a page every `longestMs`.
 */
const CROWD = { most: 5000, pauseMs: 100, longestMs: 1000 };

/**
 * Finds the deployments whose position is not the head of their journal: what was never delivered, or discarded by the
 * bus, and journals that lost what was handled.
 */
function createHeadPoll<Schema>(
  {
    service,
    consumer,
    database: { db },
    bus,
    clock,
    logger,
    mostAtOnce = CROWD.most,
  }: FollowJournalOptions<Schema>,
  streams: Streams,
) {
  let changedSince: string | null = null;
  let wholePassAt = clock.now();

  const crowdGone = async (signal: AbortSignal) => {
    for (let waited = 0; streams.count > mostAtOnce; waited += CROWD.pauseMs) {
      const areOnlyPausing = streams.count - streams.pausing <= mostAtOnce;
      if (areOnlyPausing && waited >= CROWD.longestMs) return;
      await clock.sleep(CROWD.pauseMs, signal);
    }
  };
  const readPage = (after: Cursor, since: string | null, signal: AbortSignal) =>
    bus.call(
      runtimeContract.rpcs['journal.heads'],
      { changedSince: since, after, limit: HEADS },
      serviceCall(service, clock, CALL_TIMEOUT_MS, signal),
    );
  const pass = async (since: string | null, signal: AbortSignal): Promise<string | null> => {
    let until: string | null = null;
    for (let after: Cursor = null; !signal.aborted; ) {
      const page: ReplyOf<Heads> = await readPage(after, since, signal);
      until ??= page.until;
      const heads = page.heads.map(({ deployment: key, seq, hash }) => ({ key, seq, hash }));
      for (const deployment of await streamsElsewhere(db, consumer, heads)) streams.wake(deployment);
      await crowdGone(signal);
      after = page.next;
      if (after === null) break;
    }
    return until;
  };
  return async (signal: AbortSignal) => {
    const isWhole = changedSince === null || clock.now() - wholePassAt >= WHOLE_PASS_MS;
    const startedAt = clock.now();
    try {
      changedSince = await pass(isWhole ? null : changedSince, signal);
      if (isWhole) wholePassAt = startedAt;
    } catch (error) {
      // A runtime that restarts, or of an older release: what the bus delivers is handled all the same.
      if (!(error instanceof ServiceError && error.code === 'unavailable')) throw error;
      logger.debug({ consumer }, 'the runtime does not answer about journals');
    }
    return 'idle' as const;
  };
}
