import { transaction } from '@orrery/database';
import { sql } from 'kysely';
import type { Db, Trx } from '../tables/schema.js';

/** A process's right to send to a chain. */
export interface ChainLease {
  readonly chain: string;
  readonly owner: string;
  readonly epoch: number;
}

/** Another process sends to the chain by now. What this one signed and stored is taken up by that one. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** Takes the lease of a chain if it is free, or renews it. Undefined while another process has it. */
export async function holdLease(
  db: Db,
  chain: string,
  owner: string,
  ttlMs: number,
): Promise<ChainLease | undefined> {
  const { rows } = await sql<ChainLease>`
    insert into chains as known (name, owner, epoch, expires_at)
    values (${chain}, ${owner}, 1, now() + ${ttlMs} * interval '1 millisecond')
    on conflict (name) do update set
      epoch = known.epoch + case when known.owner = excluded.owner then 0 else 1 end,
      owner = excluded.owner, expires_at = excluded.expires_at
    where known.owner = excluded.owner or known.expires_at is null or known.expires_at < now()
    returning name as chain, owner, epoch`.execute(db);
  return rows[0];
}

/** Makes a lease that no other process has taken last longer, under the same epoch. */
export const renewLease = (db: Db, { chain, owner, epoch }: ChainLease, ttlMs: number) =>
  sql`
    update chains set expires_at = now() + ${ttlMs} * interval '1 millisecond'
    where name = ${chain} and owner = ${owner} and epoch = ${epoch}`.execute(db);

/** Gives the leases of a process back, so that another one need not wait. */
export const releaseLeases = (db: Db, owner: string) =>
  sql`update chains set expires_at = null, owner = null where owner = ${owner}`.execute(db);

/**
 * A transaction that commits only while the lease holds: its row is locked, so a takeover waits for the commit, and a
 * process that was paused past its lease writes nothing. `for share`, since a weaker lock does not hold back an update
 * that leaves the key alone. @throws LeaseLost
 */
export const fenced = <T>(
  db: Db,
  { chain, owner, epoch }: ChainLease,
  work: (trx: Trx) => Promise<T>,
): Promise<T> =>
  transaction(db, async (trx) => {
    const { rows } = await sql`
      select from chains where name = ${chain} and owner = ${owner} and epoch = ${epoch} for share`.execute(
      trx,
    );
    if (rows.length === 0) throw new LeaseLost(`another process sends to ${chain}`);
    return work(trx);
  });

/** Stores how many transactions of the signer the chain has included, for whoever asks what a later one waits for. */
export const noteSignerCount = (
  db: Db,
  { chain, owner, epoch }: ChainLease,
  signer: string,
  nonce: number | null,
) =>
  sql`
    update chains set signer = ${signer}, nonce = ${nonce}
    where name = ${chain} and owner = ${owner} and epoch = ${epoch}
      and (signer, nonce) is distinct from (${signer}, ${nonce}::bigint)`.execute(db);

/** Stores whether pushes can be sent to the chain, for whoever lists the chains. */
export const noteChainState = (db: Db, { chain, owner, epoch }: ChainLease, reason: string | null) =>
  sql`
    update chains set status = ${reason === null ? 'available' : 'unavailable'}, reason = ${reason}
    where name = ${chain} and owner = ${owner} and epoch = ${epoch}`.execute(db);

/** Chains that the process which sends to them found unusable, or that no process has checked yet. */
export async function unavailableChains(db: Db): Promise<ReadonlySet<string>> {
  const rows = await db.selectFrom('chains').select('name').where('status', '=', 'unavailable').execute();
  return new Set(rows.map(({ name }) => name));
}
