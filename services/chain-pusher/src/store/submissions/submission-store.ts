import type { PushProblem } from '@orrery/contracts';
import { jsonb } from '@orrery/database';
import { sql } from 'kysely';
import type { Inclusion, SignedTransaction } from '../../core/chains/chain-port.js';
import type { OutgoingPush } from '../../core/pushes/batch.js';
import type { Submission } from '../../core/submissions/submission.js';
import type { Db, Trx } from '../tables/schema.js';

/**
 * The submissions of a chain under way, oldest first: at most `limit` open ones, and `watched` of each kind of those in blocks.
 * Of the confirmed ones the oldest may be final by now, and the newest show first that the chain took blocks back.
 */
export async function submissionsUnderWay(
  db: Db,
  chain: string,
  { limit, watched }: { limit: number; watched: number },
): Promise<Submission[]> {
  const { rows } = await sql<Submission>`
    with chosen as (
      (select * from attempts where chain = ${chain} and state = 'open' order by id limit ${limit})
      union all
      (select * from attempts where chain = ${chain} and state = 'included' order by id limit ${watched})
      union all
      (select * from attempts where chain = ${chain} and state = 'confirmed' order by id limit ${watched})
      union
      (select * from attempts where chain = ${chain} and state = 'confirmed' order by id desc limit ${watched / 2})
    )
    select chosen.id, chosen.chain, chosen.signer, chosen.deployment, chosen.nonce, chosen.from_number as from, chosen.to_number as to, chosen.state,
      chosen.block, chosen.block_id as "blockId",
      coalesce((
        select jsonb_agg(jsonb_build_object('id', t.id, 'raw', t.raw, 'terms', t.terms,
          'ageMs', round(extract(epoch from now() - t.created_at) * 1000),
          'sentAgoMs', round(extract(epoch from now() - t.sent_at) * 1000),
          'weighedAgoMs', round(extract(epoch from now() - t.weighed_at) * 1000)) order by t.created_at, t.id)
        from transactions t where t.attempt_id = chosen.id
      ), '[]') as transactions
    from chosen order by chosen.id`.execute(db);
  return rows;
}

/** The pushes of a submission, as a chain takes them. Their contents are kept until they are final. */
export async function outgoingPushes(
  db: Db,
  { deployment, chain, from, to }: Pick<Submission, 'deployment' | 'chain' | 'from' | 'to'>,
): Promise<OutgoingPush[]> {
  const rows = await db
    .selectFrom('pushes')
    .select(['number', 'entry_hash as entryHash', 'digest', 'content', 'truncated'])
    .where('deployment', '=', deployment)
    .where('chain', '=', chain)
    .where('number', '>=', from)
    .where('number', '<=', to)
    .orderBy('number')
    .execute();
  return rows.map(({ content, truncated, ...push }) => ({ ...push, text: truncated ? null : content }));
}

/** Stores a signed transaction, before it is sent. From here on the pushes are `submitted`. */
export async function storeTransaction(
  trx: Trx,
  { chain, id: submissionId }: Pick<Submission, 'chain' | 'id'>,
  { id, raw, terms }: SignedTransaction,
): Promise<void> {
  const signed = { raw, terms: jsonb(terms), created_at: sql<Date>`now()`, sent_at: null, weighed_at: null };
  const values = { attempt_id: submissionId, ...signed };
  await trx
    .insertInto('transactions')
    .values({ chain, id, ...values })
    // Signed again on the same terms it is the same transaction: that of a submission that was dropped.
    .onConflict((conflict) => conflict.columns(['chain', 'id']).doUpdateSet(values))
    .execute();
  await trx.updateTable('attempts').set({ transaction: id }).where('id', '=', submissionId).execute();
  await sql`
    update pushes set status = 'submitted', error = null, changed_at = now()
    where attempt_id = ${submissionId} and status in ('queued', 'submitted')`.execute(trx);
}

/** `isWeighed`: a node has taken them, or called their fee too low. */
export const noteSent = (db: Db, chain: string, ids: readonly string[], isWeighed: boolean) =>
  db
    .updateTable('transactions')
    .set({
      sent_at: sql<Date>`now()`,
      ...(isWeighed && { weighed_at: sql<Date>`coalesce(weighed_at, now())` }),
    })
    .where('chain', '=', chain)
    .where('id', 'in', ids.length === 0 ? [''] : ids)
    .execute();

/** The traces of the executions that a submission pushes, those that are recorded. */
export async function tracesOf(db: Db, { id }: Submission): Promise<string[]> {
  const rows = await db
    .selectFrom('pushes')
    .select('traceparent')
    .where('attempt_id', '=', id)
    .where('traceparent', 'is not', null)
    .orderBy('number')
    .execute();
  return rows.flatMap(({ traceparent }) => traceparent ?? []);
}

const STATUS_OF = { included: 'submitted', confirmed: 'confirmed', final: 'finalized' } as const;

/** The chain has a transaction of the submission, with its effect. */
export async function storeInclusion(
  trx: Trx,
  { id: submissionId }: Submission,
  { id, block, blockId, depth }: Inclusion,
): Promise<void> {
  await trx
    .updateTable('attempts')
    .set({ state: depth, transaction: id, block, block_id: blockId })
    .where('id', '=', submissionId)
    .execute();
  const isFinal = depth === 'final';
  await sql`
    update pushes set status = ${STATUS_OF[depth]}, error = null, changed_at = now(),
      content = case when ${isFinal} then null else content end
    where attempt_id = ${submissionId}`.execute(trx);
  if (isFinal) await trx.deleteFrom('transactions').where('attempt_id', '=', submissionId).execute();
}

/** Why pushes that are under way have not come further; null: there is no reason any more. */
export async function noteProblem(trx: Trx, { id }: Submission, problem: PushProblem | null): Promise<void> {
  await sql`
    update pushes set error = ${problem === null ? null : JSON.stringify(problem)}::jsonb, changed_at = now()
    where attempt_id = ${id} and status = 'submitted'`.execute(trx);
}

/** The chain took the block back: the submission is open again, under the same numbers and the same nonce. */
export async function reopen(trx: Trx, { id }: Submission): Promise<void> {
  await trx
    .updateTable('attempts')
    .set({ state: 'open', block: null, block_id: null })
    .where('id', '=', id)
    .execute();
  await sql`
    update pushes set status = 'submitted', changed_at = now() where attempt_id = ${id}`.execute(trx);
}

/** The submission is over without an effect: its pushes are queued again under their numbers. */
export async function dropSubmission(
  trx: Trx,
  { id, deployment, chain, from }: Pick<Submission, 'id' | 'deployment' | 'chain' | 'from'>,
  problem: PushProblem | null,
): Promise<void> {
  await trx.updateTable('attempts').set({ state: 'dead' }).where('id', '=', id).execute();
  await sql`
    update pushes set status = 'queued', changed_at = now(),
      error = ${problem === null ? null : JSON.stringify(problem)}::jsonb
    where attempt_id = ${id}`.execute(trx);
  await sql`
    update lanes set sent_number = least(sent_number, ${from - 1})
    where deployment = ${deployment} and chain = ${chain}`.execute(trx);
}
