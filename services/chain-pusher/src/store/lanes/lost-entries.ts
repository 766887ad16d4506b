import { type RawBuilder, sql } from 'kysely';
import type { Db, Lane, Trx } from '../tables/schema.js';

const LOST = 'tail_lost%';
/** Pushes that are forgotten at once. */
const AT_ONCE = 1000;

/** Stops the lanes of deployments whose journals lost entries that were taken in: the chain may hold pushes of them. */
export const stopLost = (db: Db, consumer: string) =>
  sql`
    update lanes set stop = 'chain_ahead'
    where stop is null and deployment in (
      select ordering_key from inbox_parked
      where consumer = ${consumer} and reason like ${LOST} and resolution is null)`.execute(db);

/** The first entry that the deployment's journal has lost; nothing is taken in after it. Null: it has lost none. */
export async function firstLost(trx: Trx, consumer: string, deployment: string): Promise<number | null> {
  const { rows } = await sql<{ seq: number }>`
    select seq from inbox_parked
    where consumer = ${consumer} and ordering_key = ${deployment} and reason like ${LOST}`.execute(trx);
  return rows[0]?.seq ?? null;
}

/**
 * Forgets waiting pushes of entries from a lost one on, the last ones first. No lane of the deployment sends meanwhile, and those
 * that are adopted for another chain begin anew. Resolves with whether there may be more.
 */
export async function forgetSome(trx: Trx, { deployment, chain }: Lane, fromSeq: number): Promise<boolean> {
  await sql`update lanes set stop = 'chain_ahead' where deployment = ${deployment} and stop is null`.execute(
    trx,
  );
  await sql`delete from due_heads where deployment = ${deployment} and from_seq >= ${fromSeq}`.execute(trx);
  const { rows } = await sql`
    delete from pushes where deployment = ${deployment} and (chain, number) in (
      select chain, number from pushes
      where deployment = ${deployment} and seq >= ${fromSeq} and status in ('queued', 'failed')
      order by seq desc limit ${AT_ONCE})
    returning number`.execute(trx);
  await sql`
    update lanes set last_number = greatest(sent_number, coalesce((
      select max(number) from pushes where pushes.deployment = lanes.deployment and pushes.chain = lanes.chain), 0))
    where deployment = ${deployment}`.execute(trx);
  if (rows.length > 0) await beginAnew(trx, deployment, fromSeq, sql`adoptions.chain <> ${chain}`);
  return rows.length === AT_ONCE;
}

/**
 * Adoptions that are under way begin anew. One that may have queued again what the chain lacked keeps its number: the chain may hold
 * it again by now, which only a comparison of the lane tells, once it is adopted. Any other asks the chain anew.
 */
export const beginAnew = (trx: Trx, deployment: string, lost: number | null, which: RawBuilder<unknown>) =>
  sql`
    update adoptions set progress = case
      when (progress->>'chainLast')::bigint <= (progress->>'sent')::bigint then progress || jsonb_build_object(
        'step', 'forget', 'at', 0, 'sent', sent_number, 'lost', ${lost}::bigint,
        'chainLast', least((progress->>'chainLast')::bigint, sent_number)) end
    from lanes
    where lanes.deployment = adoptions.deployment and lanes.chain = adoptions.chain
      and adoptions.deployment = ${deployment} and ${which}`.execute(trx);

/** Asks for the dead letter of a lost entry to be skipped, which is done even if this process dies right after. */
export const skipFrom = (trx: Trx, consumer: string, deployment: string, seq: number) =>
  sql`
    update inbox_parked set resolution = 'skip'
    where consumer = ${consumer} and ordering_key = ${deployment} and seq = ${seq}`.execute(trx);
