import { sql } from 'kysely';
import type { Db } from '../tables/schema.js';

/** What is under way on a chain, or stopped, and why. */
export interface Waiting {
  readonly chain: string;
  /** Of the signer's transaction; null where none is under way, or the chain counts none. */
  readonly nonce: number | null;
  /** Empty of a transaction that only uses up its nonce. */
  readonly deployment: string;
  readonly numbers: string;
  readonly since: Date | null;
  readonly waitsFor: string;
}

/** Rows that are listed; the first ones of each chain hold up the others. */
const MOST = 200;

/** Transactions that no block holds yet, in the order in which a chain can include them, then lanes that send nothing. */
export async function listWaiting(db: Db): Promise<readonly Waiting[]> {
  const { rows } = await sql<Waiting>`
    (select attempts.chain, attempts.nonce, attempts.deployment, from_number || '-' || to_number as numbers,
      attempts.created_at as since, case
        when known.signer is distinct from attempts.signer then 'its block; an earlier signer sent it'
        when attempts.nonce > known.nonce then (attempts.nonce - known.nonce) || ' earlier transactions'
        else coalesce((select error->>'detail' from pushes
          where attempt_id = attempts.id and error is not null limit 1), 'its block') end as "waitsFor"
    from attempts left join chains as known on known.name = attempts.chain
    where state = 'open' order by attempts.chain, attempts.nonce nulls last, attempts.id limit ${MOST})
    union all
    (select chain, null, deployment, (sent_number + 1) || '-' || last_number, wait_until, coalesce(stop, waits_for)
    from lanes where sent_number < last_number and (stop is not null or waits_for is not null)
    order by chain, deployment limit ${MOST})`.execute(db);
  return rows;
}
