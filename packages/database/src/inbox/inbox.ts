import type { JsonValue } from '@orrery/contracts';
import { type Kysely, sql, type Transaction } from 'kysely';
import { jsonb } from '../connection/jsonb.js';

/** One ordering key (a deployment, for instance) as one consumer reads it. */
export interface InboxStream {
  readonly consumer: string;
  readonly key: string;
}

/**
 * `next`: the position has moved, have the effect now. `seen`: it had its effect before, acknowledge it.
 * `gap`: earlier numbers are missing, fetch them from their owner; nothing has moved.
 */
export type InboxStep = 'next' | 'seen' | 'gap';

/**
 * Takes the next number of a key, in the transaction of its effect. So each number has its effect once, in order.
 * An unknown stream begins with 1, or after the position given to `startAt`.
 */
export async function advance<Schema>(
  trx: Transaction<Schema>,
  { consumer, key }: InboxStream,
  seq: number,
): Promise<InboxStep> {
  // Waits for another transaction that is taking the same number, and then finds it taken.
  const moved = await sql`
    insert into inbox_positions as position (consumer, ordering_key, last_seq)
    select ${consumer}, ${key}, ${seq}::bigint
    where ${seq}::bigint = 1
      or exists (select from inbox_positions where consumer = ${consumer} and ordering_key = ${key})
    on conflict (consumer, ordering_key) do update set last_seq = excluded.last_seq
      where position.last_seq = excluded.last_seq - 1
    returning last_seq
  `.execute(trx);
  if (moved.rows.length > 0) return 'next';
  return seq <= (await lastSeq(trx, { consumer, key })) ? 'seen' : 'gap';
}

/** The last number that had its effect; 0 for an unknown stream. */
export async function lastSeq<Schema>(
  trx: Transaction<Schema>,
  { consumer, key }: InboxStream,
): Promise<number> {
  const { rows } = await sql<{ last: number }>`
    select last_seq as last from inbox_positions where consumer = ${consumer} and ordering_key = ${key}
  `.execute(trx);
  return rows[0]?.last ?? 0;
}

/** Makes a stream begin after `seq`, for a consumer that starts from a snapshot. A position never goes back. */
export async function startAt<Schema>(
  trx: Transaction<Schema>,
  { consumer, key }: InboxStream,
  seq: number,
): Promise<void> {
  await sql`
    insert into inbox_positions as position (consumer, ordering_key, last_seq) values (${consumer}, ${key}, ${seq})
    on conflict (consumer, ordering_key) do update set last_seq = greatest(position.last_seq, excluded.last_seq)
  `.execute(trx);
}

/** A message that its consumer could not process. It stops its own stream and no other. */
export interface DeadLetter {
  readonly seq: number;
  /** For the operator; no secret. */
  readonly reason: string;
  readonly payload: JsonValue;
}

/** Stores a dead letter, once; a repetition keeps the first reason. */
export async function putDeadLetter<Schema>(
  trx: Transaction<Schema>,
  { consumer, key }: InboxStream,
  { seq, reason, payload }: DeadLetter,
): Promise<void> {
  await sql`
    insert into inbox_parked (consumer, ordering_key, seq, reason, payload)
    values (${consumer}, ${key}, ${seq}, ${reason}, ${jsonb(payload)})
    on conflict do nothing
  `.execute(trx);
}

/** The dead letter that stops a stream, or undefined. */
export async function firstDeadLetter<Schema>(
  db: Kysely<Schema>,
  { consumer, key }: InboxStream,
): Promise<DeadLetter | undefined> {
  const { rows } = await sql<DeadLetter>`
    select seq, reason, payload from inbox_parked
    where consumer = ${consumer} and ordering_key = ${key} order by seq limit 1
  `.execute(db);
  return rows[0];
}

/** Removes a dead letter, which an operator wants retried or skipped. False when it was not there. */
export async function removeDeadLetter<Schema>(
  trx: Transaction<Schema>,
  { consumer, key }: InboxStream,
  seq: number,
): Promise<boolean> {
  const { rows } = await sql`
    delete from inbox_parked where consumer = ${consumer} and ordering_key = ${key} and seq = ${seq} returning seq
  `.execute(trx);
  return rows.length > 0;
}
