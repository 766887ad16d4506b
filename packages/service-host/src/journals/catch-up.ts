import { serviceCall } from '@orrery/bus';
import { type JournalFact, runtimeContract } from '@orrery/contracts';
import { firstDeadLetter, type InboxPosition, positionOf } from '@orrery/database';
import { findReplacement } from './find-replacement.js';
import type { FollowJournalOptions } from './options.js';
import { EntryFailed, type Takes } from './take-entry.js';

type CatchUpDependencies<Schema> = Takes &
  Pick<FollowJournalOptions<Schema>, 'service' | 'consumer' | 'database' | 'bus' | 'clock' | 'signal'>;

/**
 * Reads the entries after the position from the runtime, to the head of the journal, and takes them in order.
 * @throws EntryFailed, final when the journal does not have what was handled last
 */
export type CatchUp = (deployment: string) => Promise<void>;

/** How the reason of a dead letter begins where the journal does not have what was handled last. */
export const TAIL_LOST = 'tail_lost';

const CALL_TIMEOUT_MS = 10_000;
/** Entries of one `journal.range`. */
const PAGE = 100;

export function createCatchUp<Schema>({
  service,
  consumer,
  database: { db },
  bus,
  clock,
  signal,
  take,
  takeTogether,
}: CatchUpDependencies<Schema>): CatchUp {
  const read = (deployment: string, after: number) =>
    bus.call(
      runtimeContract.rpcs['journal.range'],
      { deployment, after, limit: PAGE },
      serviceCall(service, clock, CALL_TIMEOUT_MS, signal),
    );
  const refuse = async (deployment: string, position: InboxPosition, head: number): Promise<void> => {
    // What stops the deployment already need not be this loss.
    if ((await firstDeadLetter(db, { consumer, key: deployment })) !== undefined) return;
    const readAfter = async (after: number) => (await read(deployment, after)).entries;
    const entry = await findReplacement(readAfter, position.seq, Math.min(head, position.seq));
    if (entry === undefined) throw new Error(`the journal of ${deployment} has no entry any more`);
    throw lost(entry, position);
  };

  return async (deployment) => {
    const position = await positionOf(db, { consumer, key: deployment });
    // Begins with the entry that was handled last: what was handled must still be there.
    let isFirstPage = true;
    for (let after = Math.max(0, position.seq - 1); !signal.aborted; ) {
      const { entries, head } = await read(deployment, after);
      if (isWithout(entries, head, position)) return refuse(deployment, position, head);
      const later = entries.filter(({ seq }) => seq > position.seq);
      // The first page one by one: an entry that ends the process is soon the first one that is taken, and is counted.
      const areTaken = !isFirstPage && (await takeTogether(later));
      isFirstPage = false;
      for (const entry of areTaken ? [] : later) {
        const step = await take(entry);
        if (step === 'stopped') return;
        if (step === 'forked') throw lost(entry, { seq: entry.seq - 1, hash: null });
      }
      const last = entries.at(-1);
      if (last === undefined || last.seq >= head) return;
      after = last.seq;
    }
  };
}

/** Whether a journal lacks the entry at a position, or has another one there. */
const isWithout = (entries: readonly JournalFact[], head: number, { seq, hash }: InboxPosition): boolean =>
  head < seq || (hash !== null && entries.some((entry) => entry.seq === seq && entry.hash !== hash));

function lost(entry: JournalFact, position: InboxPosition): EntryFailed {
  const reason = `${TAIL_LOST}: the journal has lost entries that were handled, up to number ${position.seq}. A skip goes on after number ${entry.seq}.`;
  return new EntryFailed(entry, new Error(reason), true, entry.seq > position.seq ? undefined : position);
}
