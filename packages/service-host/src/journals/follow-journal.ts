import { type JournalFact, type JsonValue, journalEntry } from '@orrery/contracts';
import {
  type DeadLetter,
  firstDeadLetter,
  forgetAttempts,
  goOnAfter,
  type ParkedMessage,
  parkedMessage,
  positionOf,
  putDeadLetter,
  removeDeadLetter,
  requestedResolutions,
  startAt,
  transaction,
} from '@orrery/database';
import { startPollLoop } from '@orrery/service-kit';
import { createCatchUp, TAIL_LOST } from './catch-up.js';
import { createHeadPoll } from './head-poll.js';
import { createStreams, type PutAside } from './journal-streams.js';
import type { FollowJournalOptions } from './options.js';
import { createTakes, EntryFailed } from './take-entry.js';

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
  /** As `skip`, where the dead letter says that the journal lost entries. Resolves with false for any other. */
  skipLost(deployment: string): Promise<boolean>;
  /** Resolves when the signal has aborted and no entry is in work any more. */
  ended(): Promise<void>;
}

const MAX_ATTEMPTS = 10;
const POLL_MS = 5000;
const RESOLVED_AT_ONCE = 100;

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
  const takes = createTakes({ ...options, maxAttempts });
  const catchUp = createCatchUp({ ...options, ...takes });
  const putAside = createPutAside(options);
  const streams = createStreams({ ...options, take: takes.take, catchUp, putAside });

  const resume = async (
    deployment: string,
    after: 'retry' | 'skip',
    isMeant: (letter: ParkedMessage) => boolean = () => true,
  ): Promise<boolean> => {
    const stream = { consumer, key: deployment };
    const removed = await transaction(db, async (trx) => {
      // Locks the position: another process may resolve the same letter, go on, and have a later entry stopped.
      await startAt(trx, stream, 0);
      const parked = await parkedMessage(trx, stream);
      if (parked === undefined || !isMeant(parked)) return false;
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

  /** What operators have asked for with the command `orrery dead-letters`. */
  const resolveAsked = async () => {
    for (const { key, seq, resolution } of await requestedResolutions(db, consumer, RESOLVED_AT_ONCE)) {
      // Those before it may take long: by then it may be resolved, and nobody has asked for the one that stops now.
      const isAsked = (letter: ParkedMessage) => letter.seq === seq && letter.resolution === resolution;
      await resume(key, resolution, isAsked).catch((error: unknown) => {
        logger.warn({ err: error, consumer, deployment: key }, 'a dead letter was resolved in vain');
        streams.wake(key);
      });
    }
  };
  const pollHeads = createHeadPoll(options, streams);

  await bus.consume(journalEntry, {
    consumer,
    handle: async (entry) => {
      await streams.deliver(entry);
    },
    signal,
  });
  const poll = startPollLoop({
    name: `journal heads of ${consumer}`,
    intervalMs: options.pollMs ?? POLL_MS,
    runOnce: async (ending) => {
      await resolveAsked();
      return pollHeads(ending);
    },
    clock,
    logger,
    signal,
  });
  return {
    deadLetter: (deployment) => firstDeadLetter(db, { consumer, key: deployment }),
    retry: (deployment) => resume(deployment, 'retry'),
    skip: (deployment) => resume(deployment, 'skip'),
    skipLost: (deployment) => resume(deployment, 'skip', ({ reason }) => reason.startsWith(TAIL_LOST)),
    ended: async () => {
      await poll.stop();
      await streams.ended();
    },
  };
}

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
