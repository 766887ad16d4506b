import { type JournalFact, ServiceError } from '@orrery/contracts';
import type { Db } from '../database/db.js';
import { HASHED_COLUMNS, headOf } from './journal-store.js';
import { toFact } from './publication.js';

/** Bytes of one reply's entries, roughly; always at least one entry. */
const MAX_REPLY_BYTES = 4 * 1024 * 1024;
/** Rows read at once: 8 MiB of the largest. */
const AT_ONCE = 32;

/** Entries after a `seq`, in order, of a deployment that may be deleted. Throws `deployment_not_found`. */
export async function journalRange(
  db: Db,
  request: { deployment: string; after: number; limit: number },
): Promise<{ entries: JournalFact[]; head: number }> {
  const deployment = await db
    .selectFrom('deployments')
    .select(['id', 'address', 'world_address'])
    .where('address', '=', request.deployment)
    .executeTakeFirst();
  if (deployment === undefined) throw new ServiceError('deployment_not_found');
  const { seq: head } = await headOf(db, deployment.id);
  const names = { address: deployment.address, worldAddress: deployment.world_address };
  const entries: JournalFact[] = [];
  for (let bytes = 0, after = request.after; entries.length < request.limit && bytes < MAX_REPLY_BYTES; ) {
    const rows = await rowsAfter(db, deployment.id, after, Math.min(AT_ONCE, request.limit - entries.length));
    const last = rows.at(-1);
    if (last === undefined) break;
    bytes += Buffer.byteLength(JSON.stringify(rows));
    entries.push(...rows.map((row) => toFact(row, names)));
    after = last.seq;
  }
  return { entries, head };
}

const rowsAfter = (db: Db, deploymentId: number, after: number, limit: number) =>
  db
    .selectFrom('journal')
    .select([...HASHED_COLUMNS, 'pushes'])
    .where('deployment_id', '=', deploymentId)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute();
