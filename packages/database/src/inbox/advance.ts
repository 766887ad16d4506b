import { sql, type Transaction } from 'kysely';

/** Where a consumer stands with one ordering key (a deployment, for instance). */
export interface InboxLane {
  readonly consumer: string;
  readonly key: string;
}

/**
 * `next`: the position has moved, have the effect now. `seen`: it had its effect before, acknowledge it.
 * `gap`: earlier ones are missing, fetch them from their owner; nothing has moved.
 */
export type InboxStep = 'next' | 'seen' | 'gap';

/**
 * Takes the next number of a key, in the transaction of its effect: so each entry has its effect once, in
 * order. A lane that was never met begins with 1, or where `startAt` has put it.
 */
export async function advance<Schema>(
  trx: Transaction<Schema>,
  { consumer, key }: InboxLane,
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

/** The last number that had its effect; 0 for a lane that was never met. */
export async function lastSeq<Schema>(
  trx: Transaction<Schema>,
  { consumer, key }: InboxLane,
): Promise<number> {
  const { rows } = await sql<{ last: number }>`
    select last_seq as last from inbox_positions where consumer = ${consumer} and ordering_key = ${key}
  `.execute(trx);
  return rows[0]?.last ?? 0;
}

/** Lets a lane begin after `seq`: for a consumer that starts with a snapshot. A lane never goes back. */
export async function startAt<Schema>(
  trx: Transaction<Schema>,
  { consumer, key }: InboxLane,
  seq: number,
): Promise<void> {
  await sql`
    insert into inbox_positions as position (consumer, ordering_key, last_seq) values (${consumer}, ${key}, ${seq})
    on conflict (consumer, ordering_key) do update set last_seq = greatest(position.last_seq, excluded.last_seq)
  `.execute(trx);
}
