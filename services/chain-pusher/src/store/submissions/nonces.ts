import { sql } from 'kysely';
import type { Trx } from '../tables/schema.js';

/** Nonces that are filled at once. */
const MAX_FILLED = 16;

/** Whose nonces on which chain. */
export interface NonceTerms {
  readonly chain: string;
  readonly signer: string;
  /** The first nonce that the chain has not used; null where there are none. */
  readonly nonce: number | null;
}

/**
 * Gives the nonces from the chain's count on that no submission under way has. A nonce whose submission is over is given
 * again; so one that was dropped leaves no gap, and what others sent for the signer is passed over.
 */
export async function freeNonces(
  trx: Trx,
  { chain, signer, nonce }: NonceTerms,
): Promise<() => number | null> {
  if (nonce === null) return () => null;
  const { rows } = await sql<{ nonce: number }>`
    select nonce from attempts where chain = ${chain} and signer = ${signer} and nonce >= ${nonce}
      and state in ('open', 'included', 'confirmed')`.execute(trx);
  const used = new Set(rows.map((row) => row.nonce));
  let next = nonce;
  return () => {
    while (used.has(next)) next += 1;
    next += 1;
    return next - 1;
  };
}

/**
 * Makes submissions without pushes of the nonces below an open one that no submission has: nothing above such a gap would
 * ever be in a block. `mayFill` tells of which.
 */
export async function fillGaps(
  trx: Trx,
  { chain, signer, nonce }: NonceTerms,
  mayFill: (nonce: number) => boolean,
): Promise<void> {
  if (nonce === null) return;
  const { rows } = await sql<{ highest: number | null }>`
    select max(nonce) as highest from attempts
    where chain = ${chain} and signer = ${signer} and nonce >= ${nonce} and state = 'open'`.execute(trx);
  const highest = rows[0]?.highest ?? nonce;
  const next = await freeNonces(trx, { chain, signer, nonce });
  for (let count = 0; count < MAX_FILLED; count += 1) {
    const free = next();
    if (free === null || free >= highest) return;
    if (!mayFill(free)) continue;
    const values = { chain, signer, nonce: free, deployment: '', from_number: 1, to_number: 0 };
    await trx.insertInto('attempts').values(values).execute();
  }
}
