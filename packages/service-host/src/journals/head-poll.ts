import { serviceCall } from '@orrery/bus';
import { type ReplyOf, runtimeContract, ServiceError } from '@orrery/contracts';
import { streamsElsewhere } from '@orrery/database';
import type { Streams } from './journal-streams.js';
import type { FollowJournalOptions } from './options.js';

type Heads = (typeof runtimeContract.rpcs)['journal.heads'];
type Cursor = ReplyOf<Heads>['next'];

const CALL_TIMEOUT_MS = 10_000;
/** Heads of one page. */
const HEADS = 500;
/** All journals are compared this often: a runtime of an older release does not note when they change. */
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
export function createHeadPoll<Schema>(
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
  let wholePassAt = clock.monotonic();

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
    const isWhole = changedSince === null || clock.monotonic() - wholePassAt >= WHOLE_PASS_MS;
    const startedAt = clock.monotonic();
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
