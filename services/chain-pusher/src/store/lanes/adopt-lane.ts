import { sql } from 'kysely';
import { renumbered } from '../../core/pushes/push-content.js';
import type { Db, Lane, Trx } from '../tables/schema.js';

export interface AdoptOptions {
  /** Of the inbox: whose dead letters say that a journal lost entries. */
  readonly consumer: string;
  readonly chainLast: number;
}

/** `waits`: a submission is under way, so the chain's last number may still grow. `lost`: the journal lost entries. */
export type AdoptOutcome = 'waits' | 'done' | 'lost';

/**
 * Lets a lane go on after the chain's last number. What waits is numbered anew from there, in its order. Where the chain
 * lacks pushes that the lane knows to have been on it, their digests are pushed again. Changes nothing while it `waits`.
 */
export async function adoptLane(
  trx: Trx,
  lane: Lane,
  { consumer, chainLast }: AdoptOptions,
): Promise<AdoptOutcome> {
  const { deployment, chain } = lane;
  // All lanes, since forgetting what was lost touches them all; in one order, so that two chains never wait for each other.
  await sql`select from lanes where deployment = ${deployment} order by chain for update`.execute(trx);
  const { rows: open } = await sql`
    select from attempts where deployment = ${deployment} and chain = ${chain} and state = 'open'`.execute(
    trx,
  );
  if (open.length > 0) return 'waits';
  const hasLost = await forgetLost(trx, consumer, deployment);
  await sql`
    update pushes set status = 'queued', truncated = true, attempt_id = null, error = null, changed_at = now()
    where deployment = ${deployment} and chain = ${chain} and number > ${chainLast}
      and status in ('submitted', 'confirmed', 'finalized')`.execute(trx);
  const waiting = await renumberWaiting(trx, lane, chainLast);
  await sql`
    update lanes set stop = null, failures = 0, wait_until = null, waits_for = null, sent_number = ${chainLast},
      last_number = ${chainLast + waiting}
    where deployment = ${deployment} and chain = ${chain}`.execute(trx);
  await trx
    .updateTable('adoptions')
    .set({ outcome: `goes on after number ${chainLast}; ${waiting} pushes wait` })
    .where('deployment', '=', deployment)
    .where('chain', '=', chain)
    .execute();
  return hasLost ? 'lost' : 'done';
}

/** Numbers only grow here, so the last one moves first. A digest that was on the chain once keeps its number. */
async function renumberWaiting(trx: Trx, { deployment, chain }: Lane, chainLast: number): Promise<number> {
  const { rows } = await sql<{ number: number; content: string | null; isUnread: boolean }>`
    select number, content, digest = '' as "isUnread" from pushes
    where deployment = ${deployment} and chain = ${chain} and status in ('queued', 'failed')
    order by number desc`.execute(trx);
  for (const [at, { number, content, isUnread }] of rows.entries()) {
    const next = chainLast + rows.length - at;
    if ((content === null && !isUnread) || next === number) continue;
    const { text, digest } = content === null ? UNREAD : renumbered(content, next);
    await sql`
      update pushes set number = ${next}, content = ${text}, digest = ${digest}, status = 'queued', error = null,
        attempt_id = null, changed_at = now()
      where deployment = ${deployment} and chain = ${chain} and number = ${number}`.execute(trx);
  }
  return rows.length;
}

/** A head gets its content under its number once it is read. */
const UNREAD = { text: null, digest: '' };

const LOST = 'tail_lost%';

/** Stops the lanes of deployments whose journals lost entries that were taken in: the chain may hold pushes of them. */
export const stopLost = (db: Db, consumer: string) =>
  sql`
    update lanes set stop = 'chain_ahead'
    where stop is null and deployment in (
      select ordering_key from inbox_parked
      where consumer = ${consumer} and reason like ${LOST} and resolution is null)`.execute(db);

/**
 * Forgets the waiting pushes of entries that the deployment's journal has lost, and asks for the dead letter to be skipped, which
 * is done even if this process dies right after. Resolves with whether it has lost any.
 */
async function forgetLost(trx: Trx, consumer: string, deployment: string): Promise<boolean> {
  const { rows } = await sql<{ seq: number }>`
    select seq from inbox_parked
    where consumer = ${consumer} and ordering_key = ${deployment} and reason like ${LOST}`.execute(trx);
  const [letter] = rows;
  if (letter === undefined) return false;
  await sql`
    update inbox_parked set resolution = 'skip'
    where consumer = ${consumer} and ordering_key = ${deployment} and seq = ${letter.seq}`.execute(trx);
  await sql`
    delete from pushes
    where deployment = ${deployment} and seq >= ${letter.seq} and status in ('queued', 'failed')`.execute(
    trx,
  );
  await sql`
    delete from due_heads where deployment = ${deployment} and from_seq >= ${letter.seq}`.execute(trx);
  await sql`
    update lanes set last_number = greatest(sent_number, coalesce((
      select max(number) from pushes where pushes.deployment = lanes.deployment and pushes.chain = lanes.chain), 0))
    where deployment = ${deployment}`.execute(trx);
  return true;
}

/** What is known of a lane, or undefined where nothing was ever pushed. */
export async function findLane(
  db: Db,
  deployment: string,
  chain: string,
): Promise<{ stop: string | null; sent: number; last: number } | undefined> {
  return db
    .selectFrom('lanes')
    .select(['stop', 'sent_number as sent', 'last_number as last'])
    .where('deployment', '=', deployment)
    .where('chain', '=', chain)
    .executeTakeFirst();
}

/** Asks the process that sends to the chain to let the lane go on from the chain's number. */
export const requestAdoption = (db: Db, deployment: string, chain: string) =>
  sql`
    insert into adoptions (deployment, chain) values (${deployment}, ${chain})
    on conflict (deployment, chain) do update set outcome = null, requested_at = now()`.execute(db);

/** What came of it; undefined while it is under way. */
export async function adoptionOutcome(
  db: Db,
  deployment: string,
  chain: string,
): Promise<string | undefined> {
  const found = await db
    .selectFrom('adoptions')
    .select('outcome')
    .where('deployment', '=', deployment)
    .where('chain', '=', chain)
    .executeTakeFirst();
  return found?.outcome ?? undefined;
}

/** Adoptions that the operator asked for and that are not done. */
export const openAdoptions = (db: Db, chain: string): Promise<Lane[]> =>
  db
    .selectFrom('adoptions')
    .select(['deployment', 'chain'])
    .where('chain', '=', chain)
    .where('outcome', 'is', null)
    .limit(100)
    .execute();
