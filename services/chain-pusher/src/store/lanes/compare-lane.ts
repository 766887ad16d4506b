import { sql } from 'kysely';
import { PUSHES_PER_TRANSACTION } from '../../core/pushes/batch.js';
import { compareRanges, type RecordedPushes } from '../../core/pushes/compare-ranges.js';
import type { Lane, Trx } from '../tables/schema.js';

/** Pushes that are compared at once: those of 500 full transactions. */
const MOST_COMPARED = 501 * PUSHES_PER_TRANSACTION;

/**
 * `equal`: the lane may send. `more`: compare again, the chain may hold more. `unread`: the journal has not been read as far
 * as the chain. `ahead`: the lane has stopped. `behind`: the chain lacks what was on it.
 */
export type Comparison = 'equal' | 'more' | 'unread' | 'ahead' | 'behind';

/**
 * Takes over what the chain holds of a lane beyond what the lane knows to have sent: after a crash, or when this database is
 * older than the chain. Where the chain has another digest under a number, or leaves a number out, the lane stops as
 * `chain_ahead`.
 */
export async function compareLane(
  trx: Trx,
  lane: Lane,
  signer: string,
  recorded: readonly RecordedPushes[],
): Promise<Comparison> {
  const { deployment, chain } = lane;
  const { rows } = await sql<{ sent: number }>`
    select sent_number as sent from lanes where deployment = ${deployment} and chain = ${chain} for update`.execute(
    trx,
  );
  const last = recorded.at(-1);
  if (last === undefined) return 'equal';
  const sent = rows[0]?.sent ?? 0;
  const { equal, end } = compareRanges(recorded, sent, await ownDigests(trx, lane, sent, last.to));
  for (const range of equal) await takeOver(trx, lane, signer, range);
  if (end !== 'ahead') return end === 'unread' && equal.length === 0 ? 'unread' : 'more';
  await sql`
    update lanes set stop = 'chain_ahead' where deployment = ${deployment} and chain = ${chain}`.execute(trx);
  return 'ahead';
}

/** By their numbers, as far as the intake has come; of heads that are not read yet they are not known. */
async function ownDigests(trx: Trx, { deployment, chain }: Lane, sent: number, to: number) {
  const { rows } = await sql<{ number: number; digest: string }>`
    select number, digest from pushes
    where deployment = ${deployment} and chain = ${chain} and digest <> ''
      and number between ${sent - PUSHES_PER_TRANSACTION} and ${to}
    order by number limit ${MOST_COMPARED}`.execute(trx);
  return new Map(rows.map(({ number, digest }) => [number, digest]));
}

/** Pushes that the chain has: a submission of their own, which is watched until it is final. */
async function takeOver(
  trx: Trx,
  { deployment, chain }: Lane,
  signer: string,
  range: Omit<RecordedPushes, 'digest'>,
): Promise<void> {
  const { from, to, transaction } = range;
  const isKnown = transaction !== null;
  const { id } = await trx
    .insertInto('attempts')
    .values({
      chain,
      signer,
      nonce: null,
      deployment,
      from_number: from,
      to_number: to,
      // Without its transaction nothing can be watched.
      state: isKnown ? 'included' : 'final',
      transaction,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  if (isKnown) {
    // It may be one of a submission that was dropped.
    await sql`
      insert into transactions (chain, id, attempt_id, raw, terms, sent_at)
      values (${chain}, ${transaction}, ${id}, '', '{}', now())
      on conflict (chain, id) do update set attempt_id = excluded.attempt_id`.execute(trx);
  }
  await sql`
    update pushes set attempt_id = ${id}, status = ${isKnown ? 'submitted' : 'finalized'}, error = null, changed_at = now()
    where deployment = ${deployment} and chain = ${chain} and number between ${from} and ${to}`.execute(trx);
  await sql`
    update lanes set sent_number = greatest(sent_number, ${to})
    where deployment = ${deployment} and chain = ${chain}`.execute(trx);
}

/**
 * What a chain means that holds fewer pushes than the lane has sent. Where it may have taken blocks back, that is followed up, and
 * the lane can be compared afterwards. `isNews`: the lane did not wait for it before.
 */
export async function compareBehind(
  trx: Trx,
  { deployment, chain }: Lane,
  chainLast: number,
): Promise<{ comparison: 'unread' | 'behind'; isNews: boolean }> {
  const { rows } = await sql<{ isFollowed: boolean; isNews: boolean }>`
    select waits_for is distinct from 'chain_behind' as "isNews", exists (select from attempts
      where attempts.chain = lanes.chain and attempts.deployment = lanes.deployment
        and state in ('included', 'confirmed') and to_number > ${chainLast}) as "isFollowed"
    from lanes where deployment = ${deployment} and chain = ${chain} for update`.execute(trx);
  const { isFollowed, isNews } = rows[0] ?? { isFollowed: true, isNews: false };
  return { comparison: isFollowed ? 'unread' : 'behind', isNews };
}
