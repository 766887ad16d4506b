import { sql } from 'kysely';
import { PUSHES_PER_TRANSACTION, type RecordedPushes } from '../chains/chain-port.js';
import { parcelDigest } from '../chains/parcel-digest.js';
import type { Trx } from '../database/schema.js';

interface Lane {
  readonly deployment: string;
  readonly chain: string;
  readonly signer: string;
}

/** Pushes that are compared at once: those of 500 full transactions. */
const MOST_COMPARED = 501 * PUSHES_PER_TRANSACTION;

/**
 * `level`: the lane may send. `more`: compare again, the chain may hold more. `unread`: the journal has not been read as far
 * as the chain. `ahead`: the lane has stopped.
 */
export type Comparison = 'level' | 'more' | 'unread' | 'ahead';

/**
 * Takes over what the chain holds of a lane beyond what the lane knows to have sent: after a crash, or when this database is
 * older than the chain. Where the chain has another digest under a number, or leaves a number out, the lane stops as
 * `chain_ahead`.
 */
export async function compareLane(
  trx: Trx,
  lane: Lane,
  recorded: readonly RecordedPushes[],
): Promise<Comparison> {
  const { deployment, chain } = lane;
  let sent = await lockedSentNumber(trx, lane);
  const last = recorded.at(-1);
  if (last === undefined) return 'level';
  const digestOf = await ownDigests(trx, lane, sent, last.to);
  const same: RecordedPushes[] = [];
  let found: Standing = 'same';
  for (const range of recorded) {
    found = standingOf(range, sent, digestOf(range));
    if (found !== 'same') break;
    same.push(range);
    sent = range.to;
  }
  for (const range of joined(same)) await takeOver(trx, lane, range);
  if (found !== 'ahead') return found === 'unread' && same.length === 0 ? 'unread' : 'more';
  await sql`
    update lanes set stop = 'chain_ahead' where deployment = ${deployment} and chain = ${chain}`.execute(trx);
  return 'ahead';
}

type Standing = 'same' | 'unread' | 'ahead';

const standingOf = ({ from, digest }: RecordedPushes, sent: number, own: string | undefined): Standing => {
  if (from > sent + 1) return 'ahead';
  if (own === undefined) return 'unread';
  return own === digest ? 'same' : 'ahead';
};

async function lockedSentNumber(trx: Trx, { deployment, chain }: Lane): Promise<number> {
  const { rows } = await sql<{ sent: number }>`
    select sent_number as sent from lanes where deployment = ${deployment} and chain = ${chain} for update`.execute(
    trx,
  );
  return rows[0]?.sent ?? 0;
}

/** The digest of ranges by the lane's own pushes; undefined where the intake has not come as far. */
async function ownDigests(trx: Trx, { deployment, chain }: Lane, sent: number, to: number) {
  const { rows } = await sql<{ number: number; digest: string }>`
    select number, digest from pushes
    where deployment = ${deployment} and chain = ${chain}
      and number between ${sent - PUSHES_PER_TRANSACTION} and ${to}
    order by number limit ${MOST_COMPARED}`.execute(trx);
  const known = new Map(rows.map(({ number, digest }) => [number, digest]));
  return ({ from, to: end }: RecordedPushes): string | undefined => {
    const digests = Array.from({ length: end - from + 1 }, (_, at) => known.get(from + at));
    return digests.every((digest) => digest !== undefined) ? parcelDigest(digests) : undefined;
  };
}

type Range = Omit<RecordedPushes, 'digest'>;

/** Consecutive pushes of one transaction, as one. */
function joined(recorded: readonly RecordedPushes[]): Range[] {
  const ranges: Range[] = [];
  for (const { from, to, transaction } of recorded) {
    const last = ranges.at(-1);
    if (last !== undefined && last.transaction === transaction) ranges[ranges.length - 1] = { ...last, to };
    else ranges.push({ from, to, transaction });
  }
  return ranges;
}

/** Pushes that the chain has: an attempt of their own, which is watched until it is final. */
async function takeOver(trx: Trx, { deployment, chain, signer }: Lane, range: Range): Promise<void> {
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
    // It may be one of an attempt that was given up.
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
