import type { JsonValue } from '@orrery/contracts';
import { type Kysely, sql, type Transaction } from 'kysely';
import { jsonb } from '../connection/jsonb.js';
import type { InboxLane } from './advance.js';

/** A message that its consumer could not take. It stops the lane, and only this lane. */
export interface ParkedMessage {
  readonly seq: number;
  /** For the operator; no secret. */
  readonly reason: string;
  readonly payload: JsonValue;
}

/** Puts a message aside, once; repeating it keeps the first reason. */
export async function park<Schema>(
  trx: Transaction<Schema>,
  { consumer, key }: InboxLane,
  { seq, reason, payload }: ParkedMessage,
): Promise<void> {
  await sql`
    insert into inbox_parked (consumer, ordering_key, seq, reason, payload)
    values (${consumer}, ${key}, ${seq}, ${reason}, ${jsonb(payload)})
    on conflict do nothing
  `.execute(trx);
}

/** The message that stops a lane, if one does. */
export async function parkedIn<Schema>(
  db: Kysely<Schema>,
  { consumer, key }: InboxLane,
): Promise<ParkedMessage | undefined> {
  const { rows } = await sql<ParkedMessage>`
    select seq, reason, payload from inbox_parked
    where consumer = ${consumer} and ordering_key = ${key} order by seq limit 1
  `.execute(db);
  return rows[0];
}

/** Takes a message out again, to be retried or skipped by an operator's word. False when it was not there. */
export async function unpark<Schema>(
  trx: Transaction<Schema>,
  { consumer, key }: InboxLane,
  seq: number,
): Promise<boolean> {
  const { rows } = await sql`
    delete from inbox_parked where consumer = ${consumer} and ordering_key = ${key} and seq = ${seq} returning seq
  `.execute(trx);
  return rows.length > 0;
}
