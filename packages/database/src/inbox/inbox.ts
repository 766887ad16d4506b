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
 * `gap`: earlier numbers are missing, fetch them from their owner; nothing has moved. `forked`: this number, or the one
 * before it, was another message when it had its effect; nothing has moved. It shows for the last number and the next
 * one, since only the hash of the last one is kept.
 */
export type InboxStep = 'next' | 'seen' | 'gap' | 'forked';

/** What ties a message to the one before it, where messages have hashes. */
export interface InboxLink {
  readonly hash: string;
  readonly prevHash: string;
}

/**
 * Takes the next number of a key, in the transaction of its effect. So each number has its effect once, in order.
 * An unknown stream begins with 1, or after the position given to `startAt`.
 */
export async function advance<Schema>(
  trx: Transaction<Schema>,
  { consumer, key }: InboxStream,
  seq: number,
  { hash, prevHash }: InboxLink | { hash: null; prevHash: null } = { hash: null, prevHash: null },
): Promise<InboxStep> {
  // Waits for another transaction that is taking the same number, and then finds it taken.
  const moved = await sql`
    insert into inbox_positions as position (consumer, ordering_key, last_seq, last_hash)
    select ${consumer}, ${key}, ${seq}::bigint, ${hash}
    where ${seq}::bigint = 1
      or exists (select from inbox_positions where consumer = ${consumer} and ordering_key = ${key})
    on conflict (consumer, ordering_key) do update
      set last_seq = excluded.last_seq, last_hash = excluded.last_hash
      where position.last_seq = excluded.last_seq - 1
        and coalesce(position.last_hash = ${prevHash}::text, true)
    returning last_seq
  `.execute(trx);
  if (moved.rows.length > 0) return 'next';
  const last = await positionOf(trx, { consumer, key });
  if (seq === last.seq && differ(hash, last.hash)) return 'forked';
  if (seq <= last.seq) return 'seen';
  return last.seq > 0 && seq === last.seq + 1 ? 'forked' : 'gap';
}

/** The last number that had its effect, 0 for an unknown stream, and its hash, null where it is not known. */
export interface InboxPosition {
  readonly seq: number;
  readonly hash: string | null;
}

/** Where a stream stands. */
export async function positionOf<Schema>(
  db: Kysely<Schema>,
  { consumer, key }: InboxStream,
): Promise<InboxPosition> {
  const { rows } = await sql<InboxPosition>`
    select last_seq as seq, last_hash as hash from inbox_positions
    where consumer = ${consumer} and ordering_key = ${key}
  `.execute(db);
  return rows[0] ?? { seq: 0, hash: null };
}

/** Whether two hashes are known and not the same. */
const differ = (one: string | null, other: string | null) => one !== null && other !== null && one !== other;

/** Makes a stream begin after `seq`, for a consumer that starts from a snapshot. A position never goes back by this. */
export async function startAt<Schema>(
  trx: Transaction<Schema>,
  { consumer, key }: InboxStream,
  seq: number,
  hash: string | null = null,
): Promise<void> {
  await sql`
    insert into inbox_positions as position (consumer, ordering_key, last_seq, last_hash)
    values (${consumer}, ${key}, ${seq}, ${hash})
    on conflict (consumer, ordering_key) do update set
      last_hash = case when position.last_seq < excluded.last_seq then excluded.last_hash else position.last_hash end,
      last_seq = greatest(position.last_seq, excluded.last_seq)
  `.execute(trx);
}

/**
 * Makes a known stream go on after `seq`, also where that goes back: its numbers are used again, by other messages. The
 * transaction has locked the position (`startAt`) before it read what it goes by.
 */
export async function goOnAfter<Schema>(
  trx: Transaction<Schema>,
  { consumer, key }: InboxStream,
  { seq, hash }: InboxPosition,
): Promise<void> {
  await sql`
    update inbox_positions set last_seq = ${seq}, last_hash = ${hash}
    where consumer = ${consumer} and ordering_key = ${key}
  `.execute(trx);
}

/**
 * Which of these streams of a consumer do not stand at the head given with each, and are not stopped by a dead letter:
 * they are behind, they have gone on meanwhile, or they had messages that are gone.
 */
export async function streamsElsewhere<Schema>(
  db: Kysely<Schema>,
  consumer: string,
  heads: readonly { readonly key: string; readonly seq: number; readonly hash: string }[],
): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    select head.key
    from unnest(${heads.map(({ key }) => key)}::text[], ${heads.map(({ seq }) => seq)}::bigint[],
      ${heads.map(({ hash }) => hash)}::text[]) as head (key, seq, hash)
    left join inbox_positions as position on position.consumer = ${consumer} and position.ordering_key = head.key
    where (head.seq <> coalesce(position.last_seq, 0) or head.hash <> position.last_hash)
      and not exists (select from inbox_parked where consumer = ${consumer} and ordering_key = head.key)
  `.execute(db);
  return rows.map(({ key }) => key);
}

/** How often a number of a stream was begun, as counted by `countAttempt`. */
export async function attemptsOf<Schema>(
  db: Kysely<Schema>,
  { consumer, key }: InboxStream,
  seq: number,
): Promise<number> {
  const { rows } = await sql<{ attempts: number }>`
    select attempts from inbox_attempts
    where consumer = ${consumer} and ordering_key = ${key} and seq = ${seq}`.execute(db);
  return rows[0]?.attempts ?? 0;
}

/** Counts an attempt at a number, in a transaction of its own, and resolves with how many there were. */
export async function countAttempt<Schema>(
  db: Kysely<Schema>,
  { consumer, key }: InboxStream,
  seq: number,
): Promise<number> {
  const { rows } = await sql<{ attempts: number }>`
    insert into inbox_attempts as known (consumer, ordering_key, seq, attempts)
    values (${consumer}, ${key}, ${seq}, 1)
    on conflict (consumer, ordering_key) do update set
      attempts = case when known.seq = excluded.seq then known.attempts + 1 else 1 end, seq = excluded.seq
    returning attempts`.execute(db);
  return rows[0]?.attempts ?? 1;
}

/** Begins the count anew, for a message that an operator wants tried again. */
export async function forgetAttempts<Schema>(
  trx: Transaction<Schema>,
  { consumer, key }: InboxStream,
): Promise<void> {
  await sql`delete from inbox_attempts where consumer = ${consumer} and ordering_key = ${key}`.execute(trx);
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

/** What an operator asks for: that a dead letter is handled again, or left out for good. */
export type Resolution = 'retry' | 'skip';

/** A dead letter as operators see it. */
export interface ParkedMessage extends InboxStream, Pick<DeadLetter, 'seq' | 'reason'> {
  readonly parkedAt: Date;
  /** Null: nothing is asked for. */
  readonly resolution: Resolution | null;
}

/** What an operator asks for, and for which dead letter: another one may stop the stream by the time it is done. */
export type RequestedResolution = Pick<ParkedMessage, 'key' | 'seq'> & { readonly resolution: Resolution };

const PARKED = sql.raw(
  'consumer, ordering_key as key, seq, reason, parked_at as "parkedAt", resolution from inbox_parked',
);

/** The dead letters of all consumers of a schema, the oldest first. */
export async function listDeadLetters<Schema>(
  db: Kysely<Schema>,
  limit: number,
): Promise<readonly ParkedMessage[]> {
  const { rows } = await sql<ParkedMessage>`
    select ${PARKED} order by parked_at, consumer, ordering_key, seq limit ${limit}`.execute(db);
  return rows;
}

/** The one that stops a stream, with what is asked for; undefined: none does. */
export async function parkedMessage<Schema>(
  db: Kysely<Schema>,
  { consumer, key }: InboxStream,
): Promise<ParkedMessage | undefined> {
  const { rows } = await sql<ParkedMessage>`
    select ${PARKED} where consumer = ${consumer} and ordering_key = ${key} order by seq limit 1`.execute(db);
  return rows[0];
}

/** Asks the consumer for something; it does so when it next looks. */
export async function requestResolution<Schema>(
  db: Kysely<Schema>,
  { consumer, key }: InboxStream,
  resolution: Resolution,
): Promise<void> {
  await sql`
    update inbox_parked set resolution = ${resolution}
    where consumer = ${consumer} and ordering_key = ${key}`.execute(db);
}

/** Dead letters of a consumer that operators want resolved, the oldest first. */
export async function requestedResolutions<Schema>(
  db: Kysely<Schema>,
  consumer: string,
  limit: number,
): Promise<readonly RequestedResolution[]> {
  const { rows } = await sql<RequestedResolution>`
    select ordering_key as key, seq, resolution from inbox_parked
    where consumer = ${consumer} and resolution is not null
    order by parked_at, ordering_key, seq limit ${limit}`.execute(db);
  return rows;
}
