import { sql } from 'kysely';
import { renumbered } from '../../core/pushes/push-content.js';
import type { Db, Lane, Trx } from '../tables/schema.js';

export interface AdoptOptions {
  /** Of the inbox: whose dead letters say that a journal lost entries. */
  readonly consumer: string;
  readonly chainLast: number;
}

/**
 * `waits`: a submission is under way, so the chain's last number may still grow, or what a deletion has cancelled is not swept
 * yet. `lost`: the journal lost entries.
 */
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
  const { rows: unsettled } = await sql`
    select from attempts where deployment = ${deployment} and chain = ${chain} and state = 'open'
    union all select from lanes where deployment = ${deployment} and cancels`.execute(trx);
  if (unsettled.length > 0) return 'waits';
  const hasLost = await forgetLost(trx, consumer, deployment);
  await sql`
    update pushes set status = 'queued', truncated = true, attempt_id = null, error = null, changed_at = now()
    where deployment = ${deployment} and chain = ${chain} and number > ${chainLast}
      and status in ('submitted', 'confirmed', 'finalized')`.execute(trx);
  await sql`
    update pushes set status = 'queued', error = null, changed_at = now()
    where deployment = ${deployment} and chain = ${chain} and status = 'failed'`.execute(trx);
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

/** Pushes that are numbered anew at once. */
const PAGE = 1000;

interface WaitingPush {
  readonly number: number;
  readonly content: string | null;
  readonly isUnread: boolean;
}

/** Numbers only grow here, so the last page moves first. A digest that was on the chain once keeps its number. */
async function renumberWaiting(trx: Trx, lane: Lane, chainLast: number): Promise<number> {
  const { deployment, chain } = lane;
  const { rows } = await sql<{ waiting: number; end: number }>`
    select count(*)::int as waiting, coalesce(max(number), 0) + 1 as end from pushes
    where deployment = ${deployment} and chain = ${chain} and status = 'queued'`.execute(trx);
  const { waiting, end } = rows[0] ?? { waiting: 0, end: 1 };
  let before = end;
  for (let left = waiting; left > 0; left -= PAGE) {
    const page = await waitingBelow(trx, lane, before);
    await moveAll(trx, lane, movesOf(page, chainLast + left));
    before = page.at(-1)?.number ?? 0;
  }
  return waiting;
}

/** The last ones below a number, from the last on. */
async function waitingBelow(trx: Trx, { deployment, chain }: Lane, before: number): Promise<WaitingPush[]> {
  const { rows } = await sql<WaitingPush>`
    select number, content, digest = '' as "isUnread" from pushes
    where deployment = ${deployment} and chain = ${chain} and status = 'queued' and number < ${before}
    order by number desc limit ${PAGE}`.execute(trx);
  return rows;
}

/** The new numbers of a page, which ends at `last`, with the contents under them. A head gets its content once it is read. */
const movesOf = (page: readonly WaitingPush[], last: number) =>
  page.flatMap(({ number, content, isUnread }, at) => {
    const next = last - at;
    if ((content === null && !isUnread) || next === number) return [];
    const { text, digest } = content === null ? { text: null, digest: '' } : renumbered(content, next);
    return [{ number, next, text, digest }];
  });

/** By way of numbers below 0: within one statement a number may not be free yet. */
async function moveAll(
  trx: Trx,
  { deployment, chain }: Lane,
  moves: ReturnType<typeof movesOf>,
): Promise<void> {
  if (moves.length === 0) return;
  await sql`
    update pushes set number = -next, content = text, digest = moved.digest, error = null,
      attempt_id = null, changed_at = now()
    from unnest(${moves.map(({ number }) => number)}::bigint[], ${moves.map(({ next }) => next)}::bigint[],
      ${moves.map(({ text }) => text)}::text[], ${moves.map(({ digest }) => digest)}::text[]) as moved (old, next, text, digest)
    where deployment = ${deployment} and chain = ${chain} and number = old`.execute(trx);
  await sql`
    update pushes set number = -number
    where deployment = ${deployment} and chain = ${chain} and number < 0`.execute(trx);
}

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
