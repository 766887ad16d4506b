import type { JournalFact, PastHead } from '@orrery/contracts';
import { positionOf } from '@orrery/database';
import { sql } from 'kysely';
import { endOfHour, headId, startOfHour } from '../../core/pushes/head-hours.js';
import { headContent } from '../../core/pushes/push-content.js';
import type { Db, Lane, Trx } from '../tables/schema.js';
import { lockLane, nextNumber } from './lane-store.js';

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

/** Notes that the head of an execution's hour is to be pushed. That of an hour before has its place by now. */
export async function noteHead(
  trx: Trx,
  { deployment, seq, executedAt }: JournalFact,
  chain: string,
): Promise<void> {
  const [until, end] = [startOfHour(executedAt), endOfHour(executedAt)];
  const { rows } = await sql<{ isHeadDue: boolean }>`
    with noted as (
      insert into due_heads (deployment, chain, before, from_seq, due_at)
      values (${deployment}, ${chain}, ${end}, ${seq}, ${end}::timestamptz + ${PATIENCE}) on conflict do nothing
    )
    select exists (select from due_heads
      where deployment = ${deployment} and chain = ${chain} and not placed and before <= ${until}) as "isHeadDue"`.execute(
    trx,
  );
  if (rows[0]?.isHeadDue) await placeHead(trx, { deployment, chain }, until);
}

/**
 * Gives the head of an hour that ended at `until` or before a number of its lane: the one that was taken for it, or else the
 * next. At most one waits for that. Resolves with whether one did.
 */
export async function placeHead(trx: Trx, lane: Lane, until: string, taken?: number): Promise<boolean> {
  const { deployment, chain } = lane;
  const { rows } = await sql<{ before: Date; fromSeq: number }>`
    update due_heads set placed = true, due_at = now()
    where deployment = ${deployment} and chain = ${chain} and not placed and before <= ${until}
    returning before, from_seq as "fromSeq"`.execute(trx);
  for (const { before, fromSeq } of rows) {
    const time = before.toISOString();
    const number = taken ?? (await nextNumber(trx, lane, until)).number;
    const head = { before: time, generation: null, size: null, rootHash: null };
    await sql`
      insert into pushes (deployment, chain, number, history_id, seq, entry_hash, digest, truncated, head)
      values (${deployment}, ${chain}, ${number}, ${headId(deployment, time)}, ${fromSeq},
        '', '', false, ${JSON.stringify(head)}::jsonb)`.execute(trx);
  }
  return rows.length > 0;
}

/**
 * Takes heads that the runtime can be asked for now, those that are due for the longest. Other processes take them after
 * `takenMs`, in milliseconds, unless they are settled or postponed by then.
 */
export async function takeDueHeads(db: Db, limit: number, takenMs: number): Promise<DueHead[]> {
  const { rows } = await sql<Lane & { before: Date; fromSeq: number }>`
    with due as materialized (
      select deployment, chain, before from due_heads where due_at <= now()
      order by due_at limit ${limit} for update skip locked
    )
    update due_heads h set due_at = now() + ${takenMs} * interval '1 millisecond' from due
    where h.deployment = due.deployment and h.chain = due.chain and h.before = due.before
    returning h.deployment, h.chain, h.before, h.from_seq as "fromSeq"`.execute(db);
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
