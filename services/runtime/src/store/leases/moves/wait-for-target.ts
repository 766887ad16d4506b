import { type Clock, StartupError } from '@orrery/service-kit';
import { sql } from 'kysely';
import type { Db } from '../../tables/schema.js';
import { type Parties, refuseUndone } from './change-home.js';
import {
  type CopyProgress,
  hasArrived,
  hasSlot,
  placeInLog,
  type Replication,
  readProgress,
  slotLost,
} from './replication.js';

/** How far the target is. */
export interface MoveProgress extends CopyProgress {
  /** Entries of all journals of the partition when the wait began. */
  readonly ofEntries: number;
  /** Whether all is copied: nobody owns the partition, and the target lacks what was committed last. */
  readonly isCopied: boolean;
}

interface Watching {
  readonly clock: Clock;
  readonly onProgress?: (progress: MoveProgress) => void;
}

/** How often a mover looks, in milliseconds: while rows are copied, while nobody owns the partition, and at all that it needs. */
const LOOK_MS = { copying: 100, fenced: 10, around: 1000 };

/** Until all tables are copied and follow the source. */
export async function untilCopied(
  watching: Watching,
  parties: Parties,
  replication: Replication,
): Promise<void> {
  const ofEntries = await entriesOf(parties.source, parties.partition);
  const isThere = async () => {
    const progress = await readProgress(replication);
    return progress !== undefined && progress.inStep === progress.tables;
  };
  const lookAround = () => tellProgress(watching, parties, replication, { ofEntries, isCopied: false });
  await until(isThere, lookAround, LOOK_MS.copying, watching.clock);
}

/** Until the target has all that the source has written, on its disk. */
export async function untilFlushed(
  watching: Watching,
  parties: Parties,
  replication: Replication,
): Promise<void> {
  const place = await placeInLog(replication);
  const lookAround = () => tellProgress(watching, parties, replication, { ofEntries: 0, isCopied: true });
  await until(() => hasArrived(replication, place), lookAround, LOOK_MS.fenced, watching.clock);
}

async function until(
  isThere: () => Promise<boolean>,
  lookAround: () => Promise<void>,
  everyMs: number,
  clock: Clock,
): Promise<void> {
  for (let lookedAt = clock.monotonic(); !(await isThere()); await clock.sleep(everyMs)) {
    if (clock.monotonic() - lookedAt < LOOK_MS.around) continue;
    await lookAround();
    lookedAt = clock.monotonic();
  }
}

/**
 * Asks all three databases, so that a mover ends with an error where one went away. @throws StartupError where the move is undone,
 * another mover has come further, or the slot is gone: what this one waits for may never come then
 */
async function tellProgress(
  { onProgress }: Watching,
  parties: Parties,
  replication: Replication,
  facts: Pick<MoveProgress, 'ofEntries' | 'isCopied'>,
): Promise<void> {
  await refuseUndone(parties);
  const isKept = await hasSlot(replication);
  const progress = await readProgress(replication);
  // Who undoes the move notes that first.
  if (progress === undefined) await refuseUndone(parties);
  if (progress === undefined)
    throw new StartupError(
      `Another command has ended the subscription of ${parties.partition} meanwhile: run it again.`,
    );
  // The slot goes after the subscription.
  if (!isKept) throw slotLost();
  onProgress?.({ ...progress, ...facts });
}

/** Of all journals of a partition. */
export async function entriesOf(source: Db, partition: number): Promise<number> {
  const { rows } = await sql<{ entries: number }>`
    select coalesce(sum(seq), 0)::bigint as entries from journal_heads where deployment_id % 64 = ${partition}`.execute(
    source,
  );
  return rows[0]?.entries ?? 0;
}
