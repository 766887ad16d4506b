import type { JournalFact, PastHead } from '@orrery/contracts';
import { positionOf } from '@orrery/database';
import { sql } from 'kysely';
import { endOfHour, headId } from '../../core/pushes/head-hours.js';
import { headContent } from '../../core/pushes/push-content.js';
import type { Db, Lane, Trx } from '../tables/schema.js';
import { nextNumber } from './append-push.js';
import { lockLane } from './lane-store.js';

/**
 * The head of an hour that a lane is to push.
 *
 *   noted by the first execution of the hour ─→ placed: it has the next number of the lane ─→ read: its content is known
 *
 * It is placed by the lane's first push of a later hour or, where there is none, when the hour is over and all of its entries
 * were taken in. So its number follows from the journal alone, as those of executions do.
 */
export interface DueHead extends Lane {
  /** The end of the hour. */
  readonly before: string;
  /** The execution that noted it. */
  readonly fromSeq: number;
}

/** The runtime is asked this long after the end of the hour: it waits as long for clocks that differ. */
const PATIENCE = sql`interval '10 seconds'`;

export const noteHead = (trx: Trx, { deployment, seq, executedAt }: JournalFact, chain: string) =>
  sql`
    insert into due_heads (deployment, chain, before, from_seq, due_at)
    values (${deployment}, ${chain}, ${endOfHour(executedAt)}, ${seq}, ${endOfHour(executedAt)}::timestamptz + ${PATIENCE})
    on conflict do nothing`.execute(trx);

/** Gives the head of an hour that ended at `until` or before the next number of its lane. At most one waits for that. */
export async function placeHead(trx: Trx, { deployment, chain }: Lane, until: string): Promise<void> {
  const { rows } = await sql<{ before: Date; fromSeq: number }>`
    update due_heads set placed = true, due_at = now()
    where deployment = ${deployment} and chain = ${chain} and not placed and before <= ${until}
    returning before, from_seq as "fromSeq"`.execute(trx);
  for (const { before, fromSeq } of rows) {
    const time = before.toISOString();
    const head = { before: time, generation: null, size: null, rootHash: null };
    await sql`
      insert into pushes (deployment, chain, number, history_id, seq, entry_hash, digest, truncated, head)
      values (${deployment}, ${chain}, ${await nextNumber(trx, deployment, chain)}, ${headId(deployment, time)}, ${fromSeq},
        '', '', false, ${JSON.stringify(head)}::jsonb)`.execute(trx);
  }
}

/** Heads that the runtime can be asked for now, the longest due first. */
export async function dueHeads(db: Db, limit: number): Promise<DueHead[]> {
  const { rows } = await sql<Lane & { before: Date; fromSeq: number }>`
    select deployment, chain, before, from_seq as "fromSeq" from due_heads
    where due_at <= now() order by due_at limit ${limit}`.execute(db);
  return rows.map(({ before, ...row }) => ({ ...row, before: before.toISOString() }));
}

/** The runtime could not tell it: it is asked again after a pause. */
export const postponeHead = (db: Db, { deployment, chain, before }: DueHead, pauseMs: number) =>
  sql`
    update due_heads set due_at = now() + ${pauseMs} * interval '1 millisecond'
    where deployment = ${deployment} and chain = ${chain} and before = ${before}`.execute(db);

/**
 * Places a head, unless it is, and stores what is pushed of it. Resolves with false while entries that it covers were not
 * taken in: pushes of them have their numbers before its own.
 */
export async function settleHead(trx: Trx, due: DueHead, head: PastHead, consumer: string): Promise<boolean> {
  const { deployment, chain, before } = due;
  // Locks the row of the position for as long as this: no entry is taken in meanwhile.
  await sql`
    select from inbox_positions where consumer = ${consumer} and ordering_key = ${deployment} for update`.execute(
    trx,
  );
  const { seq } = await positionOf(trx, { consumer, key: deployment });
  if (seq < head.size) return false;
  await placeHead(trx, due, before);
  await lockLane(trx, due);
  await storeHead(trx, due, head);
  await sql`
    delete from due_heads
    where deployment = ${deployment} and chain = ${chain} and before = ${before}`.execute(trx);
  return true;
}

async function storeHead(trx: Trx, { deployment, chain, before }: DueHead, head: PastHead): Promise<void> {
  const id = headId(deployment, before);
  const { rows } = await sql<{ number: number }>`
    select number from pushes
    where deployment = ${deployment} and chain = ${chain} and history_id = ${id} and digest = ''`.execute(
    trx,
  );
  const [push] = rows;
  // The deployment was deleted, or its journal lost what noted it.
  if (push === undefined) return;
  const { text, digest } = headContent(deployment, head, push.number);
  const { entryHash, ...shown } = head;
  await sql`
    update pushes set seq = ${head.size}, entry_hash = ${entryHash}, digest = ${digest}, content = ${text},
      head = ${JSON.stringify({ before, ...shown })}::jsonb, changed_at = now()
    where deployment = ${deployment} and chain = ${chain} and number = ${push.number}`.execute(trx);
  await sql`
    update lanes set wait_until = null, waits_for = null
    where deployment = ${deployment} and chain = ${chain} and waits_for = 'head_unread'`.execute(trx);
}
