import type { journalRpcs, ReplyOf, RequestOf } from '@orrery/contracts';
import { sql } from 'kysely';
import type { Db } from '../database/db.js';
import { lastLifecycle } from './lifecycle-head.js';

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
