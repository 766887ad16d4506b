import {
  type JournalFact,
  type journalRpcs,
  type ReplyOf,
  type RequestOf,
  ServiceError,
} from '@orrery/contracts';
import { sql } from 'kysely';
import type { Db } from '../tables/schema.js';
import { HASHED_COLUMNS, headOf, toFact } from './journal-store.js';
import { lastLifecycle } from './lifecycle.js';

type Heads = (typeof journalRpcs)['journal.heads'];

/**
 * A commit notes the minute in which it began. It may become visible this many minutes later, and process clocks play no
 * part: all times are those of the database.
 */
const MARGIN_MINUTES = 2;
const MINUTE_MS = 60_000;

/** A page of the heads that changed since a time, by the minute of their last entry, then by deployment. */
export async function journalHeads(
  db: Db,
  { changedSince, after, limit, of }: RequestOf<Heads>,
): Promise<ReplyOf<Heads>> {
  const until = await databaseNow(db);
  const from = changedSince === null ? 0 : Math.floor(Date.parse(changedSince) / MINUTE_MS) - MARGIN_MINUTES;
  // Behind the cursor, or from the first deployment of the first minute.
  const { minute, deploymentId } = after ?? { minute: from, deploymentId: 0 };
  const { rows } = await sql<HeadRow>`
    select d.address as deployment, e.seq, e.hash, h.active_minute as minute, h.deployment_id as "deploymentId"
    from journal_heads h join deployments d on d.id = h.deployment_id
    cross join lateral ${of === 'journal' ? sql`(select h.seq, h.hash) e` : lastLifecycle(sql.ref('h.deployment_id'))}
    where (h.active_minute, h.deployment_id) > (${minute}, ${deploymentId})
    order by h.active_minute, h.deployment_id limit ${limit}`.execute(db);
  const last = rows.length < limit ? undefined : rows.at(-1);
  return {
    heads: rows.map(({ deployment, seq, hash }) => ({ deployment, seq, hash })),
    next: last === undefined ? null : { minute: last.minute, deploymentId: last.deploymentId },
    until,
  };
}

interface HeadRow {
  deployment: string;
  seq: number;
  hash: string;
  minute: number;
  deploymentId: number;
}

/** Read before the heads: what is committed after it is found by the next pass. */
async function databaseNow(db: Db): Promise<string> {
  const { rows } = await sql<{ now: Date }>`select now() as now`.execute(db);
  return (rows[0]?.now ?? new Date(0)).toISOString();
}

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
