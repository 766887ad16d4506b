import { type Bus, serviceCall } from '@orrery/bus';
import { type ReplyOf, type RequestOf, runtimeContract, ServiceError } from '@orrery/contracts';
import { streamsElsewhere } from '@orrery/database';
import type { Clock } from '@orrery/service-kit';
import type { Streams } from './journal-streams.js';
import type { FollowJournalOptions } from './options.js';

type Rpc = (typeof runtimeContract.rpcs)['journal.heads'];
type Page = ReplyOf<Rpc>;

const CALL_TIMEOUT_MS = 10_000;
/** Heads of one page. */
const HEADS = 500;
/**
 * Where more than `most` deployments are worked on or wait, the heads are read on when enough have finished. Deployments
 * that only pause after a failure make it slower and do not stop it: it then reads a page every `longestMs`.
 */
const CROWD = { most: 5000, pauseMs: 100, longestMs: 1000 };

export interface ReadHeadsOptions {
  /** Who asks. */
  readonly service: string;
  readonly bus: Pick<Bus, 'call'>;
  readonly clock: Clock;
  /** Of all entries unless `lifecycle`. */
  readonly of?: RequestOf<Rpc>['of'];
  /** Takes one page; the next one is read then. */
  readonly take: (heads: Page['heads']) => Promise<void>;
}

/**
 * Reads the heads of all journals, or of those that have changed since a time. Resolves with the time from which the next
 * comparison goes on, or with null when the signal has ended this one.
 */
export async function readHeads(
  { service, bus, clock, of, take }: ReadHeadsOptions,
  changedSince: string | null,
  signal: AbortSignal,
): Promise<string | null> {
  let until: string | undefined;
  for (let after: Page['next'] = null; !signal.aborted; ) {
    const page: Page = await bus.call(
      runtimeContract.rpcs['journal.heads'],
      { changedSince, after, limit: HEADS, ...(of && { of }) },
      serviceCall(service, clock, CALL_TIMEOUT_MS, signal),
    );
    until ??= page.until;
    await take(page.heads);
    after = page.next;
    if (after === null) return until;
  }
  return null;
}

/**
 * Finds the deployments whose position is not the head of their journal: what was never delivered, or discarded by the
 * bus, and journals that lost what was handled.
 */
export function createHeadPoll<Schema>(options: FollowJournalOptions<Schema>, streams: Streams) {
  const { consumer, database, clock, logger, mostAtOnce = CROWD.most } = options;
  let changedSince: string | null = null;

  const crowdGone = async (signal: AbortSignal) => {
    for (let waited = 0; streams.count > mostAtOnce; waited += CROWD.pauseMs) {
      const areOnlyPausing = streams.count - streams.pausing <= mostAtOnce;
      if (areOnlyPausing && waited >= CROWD.longestMs) return;
      await clock.sleep(CROWD.pauseMs, signal);
    }
  };
  return async (signal: AbortSignal) => {
    const take = async (page: Page['heads']) => {
      const heads = page.map(({ deployment: key, seq, hash }) => ({ key, seq, hash }));
      for (const deployment of await streamsElsewhere(database.db, consumer, heads)) streams.wake(deployment);
      await crowdGone(signal);
    };
    try {
      changedSince = await readHeads({ ...options, take }, changedSince, signal);
    } catch (error) {
      // A runtime that restarts: what the bus delivers is handled all the same.
      if (!(error instanceof ServiceError && error.code === 'unavailable')) throw error;
      logger.debug({ consumer }, 'the runtime does not answer about journals');
    }
    return 'idle' as const;
  };
}
