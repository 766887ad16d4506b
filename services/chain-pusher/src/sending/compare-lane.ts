import { sql } from 'kysely';
import type { RecordedPushes } from '../chains/chain-port.js';
import { parcelDigest } from '../chains/parcel-digest.js';
import type { Trx } from '../database/schema.js';
import { lockLane } from './attempt-store.js';

interface Lane {
  readonly deployment: string;
  readonly chain: string;
  readonly signer: string;
}

/** `level`: the lane may send. `more`: compare again, the chain may hold more. `ahead`: the lane has stopped. */
export type Comparison = 'level' | 'more' | 'ahead';

/**
 * Takes over what the chain holds of a lane beyond what the lane knows to have sent: after a crash, or when this database is
 * older than the chain. Where the chain has another digest under a number, the lane stops as `chain_ahead`.
 */
export async function compareLane(
  trx: Trx,
  { deployment, chain, signer }: Lane,
  recorded: readonly RecordedPushes[],
): Promise<Comparison> {
  await lockLane(trx, deployment, chain);
  const first = recorded[0];
  const last = recorded.at(-1);
  if (first === undefined || last === undefined) return 'level';
  const { rows } = await sql<{ number: number; digest: string }>`
    select number, digest from pushes
    where deployment = ${deployment} and chain = ${chain} and number between ${first.from} and ${last.to}
    order by number`.execute(trx);
  const known = new Map(rows.map(({ number, digest }) => [number, digest]));
  const ownDigest = ({ from, to }: RecordedPushes): string | undefined => {
    const digests = Array.from({ length: to - from + 1 }, (_, at) => known.get(from + at));
    return digests.every((digest) => digest !== undefined) ? parcelDigest(digests) : undefined;
  };
  // The intake may not have come as far as the chain: the lane waits until it has.
  const comparable = recorded.filter((range) => ownDigest(range) !== undefined);
  const same = comparable.findIndex((range) => ownDigest(range) !== range.digest);
  for (const range of joined(same === -1 ? comparable : comparable.slice(0, same))) {
    await takeOver(trx, { deployment, chain, signer }, range);
  }
  if (same === -1) return 'more';
  await sql`
    update lanes set stop = 'chain_ahead' where deployment = ${deployment} and chain = ${chain}`.execute(trx);
  return 'ahead';
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
