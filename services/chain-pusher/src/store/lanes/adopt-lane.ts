import { jsonb } from '@orrery/database';
import { sql } from 'kysely';
import type { AdoptionProgress, Db, Lane, Trx } from '../tables/schema.js';
import { beginAnew, firstLost, forgetSome, skipFrom } from './lost-entries.js';
import { renumberSome, startRenumbering } from './renumber-waiting.js';

export interface AdoptOptions {
  /** Of the inbox: whose dead letters say that a journal lost entries. */
  readonly consumer: string;
  readonly chainLast: number;
}

/**
 * `waits`: a submission is under way, so the chain's last number may still grow, or what a deletion has cancelled is not swept
 * yet, or the lane has changed, and its adoption begins anew. `more`: a part is done. `lost`: all is done, and the journal lost entries.
 */
export type AdoptOutcome = 'waits' | 'more' | 'done' | 'lost';

/** Pushes that are queued again at once. */
const AT_ONCE = 1000;

/**
 * Does a part of what lets a lane go on after the chain's last number: what waits is numbered anew from there, in its order; where
 * the chain lacks pushes that the lane knows to have been on it, their digests are pushed again. Where a process stops, the next
 * one goes on with the parts that are left. Where the lane has changed otherwise meanwhile, it begins anew (`beginAnew`).
 *
 *   forget what the journal has lost ─→ queue what the chain lacks ─→ number what waits ─→ let the lane go on
 */
export async function adoptLane(trx: Trx, lane: Lane, options: AdoptOptions): Promise<AdoptOutcome> {
  const { deployment } = lane;
  // All lanes, since forgetting what was lost touches them all; in one order, so that two chains never wait for each other.
  await sql`select from lanes where deployment = ${deployment} order by chain for update`.execute(trx);
  const { isSettled, sent, progress } = await stateOf(trx, lane);
  const lost = await firstLost(trx, options.consumer, deployment);
  if (!isSettled || (progress !== null && hasChanged(progress, sent, lost))) {
    await beginAnew(trx, deployment, lost, sql`adoptions.chain = ${lane.chain}`);
    return 'waits';
  }
  const begun = progress ?? { step: 'forget', at: 0, next: 0, chainLast: options.chainLast, sent, lost };
  if (begun.step === 'forget') await hold(trx, lane);
  const left = await doPart(trx, lane, begun, lost);
  if (left === undefined) return letGo(trx, lane, begun.chainLast, { ...options, lost });
  await storeProgress(trx, lane, { ...begun, ...left });
  return 'more';
}

/** The chain took a block back, or the journal has lost entries meanwhile. Another adoption may have skipped those that were lost. */
const hasChanged = (progress: AdoptionProgress, sent: number, lost: number | null): boolean =>
  progress.sent !== sent || (lost !== null && lost !== progress.lost);

interface LaneState {
  readonly isSettled: boolean;
  readonly sent: number;
  readonly progress: AdoptionProgress | null;
}

async function stateOf(trx: Trx, { deployment, chain }: Lane): Promise<LaneState> {
  const { rows } = await sql<LaneState>`
    select sent_number as sent, progress, not cancels and not exists (select from attempts
      where attempts.deployment = lanes.deployment and attempts.chain = lanes.chain and state = 'open') as "isSettled"
    from lanes left join adoptions using (deployment, chain)
    where deployment = ${deployment} and chain = ${chain}`.execute(trx);
  return rows[0] ?? { isSettled: true, sent: 0, progress: null };
}

const storeProgress = (trx: Trx, { deployment, chain }: Lane, progress: AdoptionProgress) =>
  trx
    .updateTable('adoptions')
    .set({ progress: jsonb(progress) })
    .where('deployment', '=', deployment)
    .where('chain', '=', chain)
    .execute();

/** Nothing of the lane is sent, retried or skipped until it is adopted. */
async function hold(trx: Trx, { deployment, chain }: Lane): Promise<void> {
  const { rows } = await sql`
    update lanes set stop = 'adopting'
    where deployment = ${deployment} and chain = ${chain} and stop is distinct from 'adopting'
    returning chain`.execute(trx);
  if (rows.length === 0) return;
  await sql`
    update pushes set status = 'queued', error = null, changed_at = now()
    where deployment = ${deployment} and chain = ${chain} and status = 'failed'`.execute(trx);
}

type Left = Pick<AdoptionProgress, 'step' | 'at' | 'next'> | undefined;

/** Resolves with what is left, or undefined where nothing is. */
async function doPart(
  trx: Trx,
  lane: Lane,
  { step, at, next, chainLast, sent }: AdoptionProgress,
  lost: number | null,
): Promise<Left> {
  if (step === 'forget') {
    const isMore = lost !== null && (await forgetSome(trx, lane, lost));
    return isMore ? { step, at, next } : { step: 'requeue', at: chainLast, next };
  }
  if (step !== 'requeue') return renumberSome(trx, lane, { step, at, next });
  if (at >= sent) return startRenumbering(trx, lane, chainLast);
  await requeue(trx, lane, at);
  return { step, at: at + AT_ONCE, next };
}

/** Their submissions are over: a transaction that the chain holds again is taken over when the lane is compared. */
async function requeue(trx: Trx, { deployment, chain }: Lane, after: number): Promise<void> {
  await sql`
    update attempts set state = 'dead'
    where deployment = ${deployment} and chain = ${chain} and to_number > ${after} and from_number <= ${after + AT_ONCE}
      and state in ('included', 'confirmed')`.execute(trx);
  await sql`
    update pushes set status = 'queued', truncated = true, attempt_id = null, error = null, changed_at = now()
    where deployment = ${deployment} and chain = ${chain} and number > ${after} and number <= ${after + AT_ONCE}
      and status in ('submitted', 'confirmed', 'finalized')`.execute(trx);
}

async function letGo(
  trx: Trx,
  { deployment, chain }: Lane,
  chainLast: number,
  { consumer, lost }: { consumer: string; lost: number | null },
): Promise<'done' | 'lost'> {
  const { rows } = await sql<{ waiting: number }>`
    update lanes set stop = null, failures = 0, wait_until = null, waits_for = null, sent_number = ${chainLast},
      last_number = greatest(last_number, ${chainLast})
    where deployment = ${deployment} and chain = ${chain}
    returning last_number - sent_number as waiting`.execute(trx);
  const outcome = `goes on after number ${chainLast}; ${rows[0]?.waiting ?? 0} pushes wait`;
  await trx
    .updateTable('adoptions')
    .set({ outcome, progress: null })
    .where('deployment', '=', deployment)
    .where('chain', '=', chain)
    .execute();
  if (lost === null) return 'done';
  await skipFrom(trx, consumer, deployment, lost);
  return 'lost';
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

/** Asks the process that sends to the chain to let the lane go on from the chain's number. One that is under way goes on. */
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

/** An adoption that the operator asked for and that is not done. `chainLast`: the number of the chain, once it has begun. */
export interface OpenAdoption extends Lane {
  readonly chainLast: number | null;
}

export async function openAdoptions(db: Db, chain: string): Promise<OpenAdoption[]> {
  const { rows } = await sql<OpenAdoption>`
    select deployment, chain, (progress->>'chainLast')::bigint as "chainLast" from adoptions
    where chain = ${chain} and outcome is null limit 100`.execute(db);
  return rows;
}
