import { prepared } from '@orrery/database';
import { sql } from 'kysely';
import { lastThatHolds } from '../../core/last-that-holds.js';
import type { Db } from '../tables/schema.js';

const entryAt = prepared<{ executedAt: Date; hash: string }>(
  'journal-entry-time',
  'select executed_at as "executedAt", hash from journal where deployment_id = $1 and seq = $2',
);

/** Where a search begins: the entry `from` has a time before `before`, and `to` is the last of the journal. */
interface TimeSearch {
  readonly from: number;
  readonly to: number;
  readonly before: string;
}

/** The last entry with a time before another one. Times of a journal never fall, so a few entries are read. */
export function lastEntryBefore(
  db: Db,
  deploymentId: number,
  { from, to, before }: TimeSearch,
): Promise<number> {
  const time = Date.parse(before);
  return lastThatHolds(from, to, async (seq) => {
    const [entry] = await entryAt(db, [deploymentId, seq]);
    return entry !== undefined && entry.executedAt.getTime() < time;
  });
}

/** The hash of the last of the first `size` entries, and the generation of a journal that ends with it. */
export async function endOf(
  db: Db,
  deploymentId: number,
  size: number,
): Promise<{ hash: string; generation: number } | undefined> {
  const { rows } = await sql<{ hash: string; generation: number }>`
    select hash, (select count(*)::integer + 1 from journal l
      where l.deployment_id = j.deployment_id and l.kind = 'tail_lost' and l.seq <= j.seq) as generation
    from journal j where deployment_id = ${deploymentId} and seq = ${size}`.execute(db);
  return rows[0];
}
