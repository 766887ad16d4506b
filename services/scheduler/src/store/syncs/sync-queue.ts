import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Db, Trx } from '../tables/schema.js';

/** A deployment that this process brings up to date; nobody else does until `CLAIM_MS` have passed. */
export interface SyncClaim {
  readonly deployment: string;
  readonly wanted: number;
  readonly claim: string;
}

/** A process that has not ended a sync after this long is taken for gone, in milliseconds. */
const CLAIM_MS = 30_000;

/** A hint that a deployment may have changed: the how manyth, and how many syncs had failed in a row by then. */
export interface Want {
  readonly wanted: number;
  readonly failures: number;
}

/**
 * Notes that deployments may have changed. `now` by the database's clock, in milliseconds. Answers in the order of their
 * addresses.
 */
export async function wantSync(db: Db, deployments: readonly string[], now: number): Promise<Want[]> {
  if (deployments.length === 0) return [];
  // In one order, so that two processes that note the same deployments never wait for each other.
  const sorted = [...new Set(deployments)].sort();
  const { rows } = await sql<Want>`
    insert into pending_syncs as p (deployment, not_before)
    select d, ${new Date(now)} from unnest(${sorted}::text[]) d
    on conflict (deployment) do update set wanted = p.wanted + 1,
      not_before = case when p.claim is null then least(p.not_before, excluded.not_before) else p.not_before end
    returning wanted, failures`.execute(db);
  return rows;
}

/** The outcome of a hint: a sync that began after it has ended, one after it has failed, or neither yet. */
export async function outcomeOfWant(
  db: Db,
  deployment: string,
  want: Want,
): Promise<'synced' | 'failed' | 'pending'> {
  const pending = await db
    .selectFrom('pending_syncs')
    .select(['wanted', 'done', 'failures'])
    .where('deployment', '=', deployment)
    .executeTakeFirst();
  // A row that counts from the beginning again was removed in between.
  if (pending === undefined || pending.done >= want.wanted || pending.wanted < want.wanted) return 'synced';
  return pending.failures > want.failures ? 'failed' : 'pending';
}

/** Claims deployments whose time has come; `only` one of them if it is named. */
export async function claimSyncs(
  db: Db,
  now: number,
  limit: number,
  only?: string,
): Promise<readonly SyncClaim[]> {
  const claim = randomUUID();
  const { rows } = await sql<{ deployment: string; wanted: number }>`
    update pending_syncs p set claim = ${claim}, not_before = ${new Date(now + CLAIM_MS)}
    where deployment in (
      select deployment from pending_syncs where not_before <= ${new Date(now)}
        and (${only ?? null}::text is null or deployment = ${only ?? null})
      order by not_before limit ${limit} for update skip locked
    ) returning deployment, wanted`.execute(db);
  return rows.map((row) => ({ ...row, claim }));
}

/** Whether the claim still holds; it then does until the transaction ends. */
export async function holdClaim(trx: Trx, { deployment, claim }: SyncClaim): Promise<boolean> {
  const held = await trx
    .selectFrom('pending_syncs')
    .select('deployment')
    .where('deployment', '=', deployment)
    .where('claim', '=', claim)
    .forUpdate()
    .executeTakeFirst();
  return held !== undefined;
}

/** The deployment is up to date, unless something was noted meanwhile. */
export async function endSync(
  trx: Trx,
  { deployment, claim, wanted }: SyncClaim,
  now: number,
): Promise<void> {
  await sql`
    delete from pending_syncs where deployment = ${deployment} and claim = ${claim} and wanted = ${wanted}`.execute(
    trx,
  );
  await sql`
    update pending_syncs set claim = null, failures = 0, not_before = ${new Date(now)}, done = ${wanted}
    where deployment = ${deployment} and claim = ${claim}`.execute(trx);
}

/** The next attempt is made later and later, up to a minute. */
export async function postponeSync(db: Db, { deployment, claim }: SyncClaim, now: number): Promise<void> {
  await sql`
    update pending_syncs set claim = null, failures = failures + 1,
      not_before = ${new Date(now)}::timestamptz + least(60, power(2, least(failures, 10))) * interval '1 second'
    where deployment = ${deployment} and claim = ${claim}`.execute(db);
}

/** When the next sync is due, in milliseconds; undefined when none is. */
export async function nextSyncAt(db: Db): Promise<number | undefined> {
  const { rows } = await sql<{ at: Date | null }>`select min(not_before) as at from pending_syncs`.execute(
    db,
  );
  return rows[0]?.at?.getTime();
}
