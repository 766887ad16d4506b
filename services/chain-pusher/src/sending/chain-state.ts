import { sql } from 'kysely';
import type { Db } from '../database/schema.js';
import type { ChainLease } from './chain-lease.js';

/** Stores how many transactions of the signer the chain has included, for whoever asks what a later one waits for. */
export const noteSignerCount = (
  db: Db,
  { chain, epoch }: ChainLease,
  owner: string,
  { signer, nonce }: { readonly signer: string; readonly nonce: number | null },
) =>
  sql`
    update chains set signer = ${signer}, nonce = ${nonce}
    where name = ${chain} and owner = ${owner} and epoch = ${epoch}
      and (signer, nonce) is distinct from (${signer}, ${nonce}::bigint)`.execute(db);

/** Stores whether pushes can be sent to the chain, for whoever lists the chains. */
export const noteChainState = (db: Db, { chain, epoch }: ChainLease, owner: string, reason: string | null) =>
  sql`
    update chains set status = ${reason === null ? 'available' : 'unavailable'}, reason = ${reason}
    where name = ${chain} and owner = ${owner} and epoch = ${epoch}`.execute(db);
