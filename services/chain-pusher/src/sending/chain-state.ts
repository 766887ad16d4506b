import { sql } from 'kysely';
import type { Db } from '../database/schema.js';
import type { ChainLease } from './chain-lease.js';

/** Stores whether pushes can be sent to the chain, for whoever lists the chains. */
export const noteChainState = (db: Db, { chain, epoch }: ChainLease, owner: string, reason: string | null) =>
  sql`
    update chains set status = ${reason === null ? 'available' : 'unavailable'}, reason = ${reason}
    where name = ${chain} and owner = ${owner} and epoch = ${epoch}`.execute(db);
