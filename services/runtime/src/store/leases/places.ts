import { ServiceError } from '@orrery/contracts';
import { transaction } from '@orrery/database';
import { type Kysely, sql } from 'kysely';
import type { DirectoryDb, DirectorySchema } from '../tables/directory.js';
import { drawId } from './spread-ids.js';

/** The id of the deployment with an address, wherever it lives. */
export async function placeOf(directory: DirectoryDb, address: string): Promise<number | undefined> {
  const found = await directory
    .selectFrom('places')
    .select('deployment_id')
    .where('address', '=', address)
    .executeTakeFirst();
  return found?.deployment_id;
}

interface NewPlace {
  readonly address: string;
  readonly accountId: number;
  /** How many deployments the account may have; null for any number. */
  readonly quota: number | null;
  /** The partitions of which one is to have it. */
  readonly partitions: readonly number[];
}

/**
 * Writes the place of a deployment that is about to be created, and answers its id. The creations of an account with a quota
 * wait for each other. @throws `quota_exceeded`
 */
export function takePlace(
  directory: DirectoryDb,
  { address, accountId, quota, partitions }: NewPlace,
): Promise<number> {
  return transaction(directory, async (trx) => {
    if (quota !== null) await refuseBeyond(trx, accountId, quota);
    const id = await drawId(trx, partitions);
    await trx.insertInto('places').values({ deployment_id: id, address, account_id: accountId }).execute();
    return id;
  });
}

async function refuseBeyond(trx: Kysely<DirectorySchema>, accountId: number, quota: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('directory.quota', ${accountId}))`.execute(trx);
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from places where account_id = ${accountId} and deleted_at is null`.execute(
    trx,
  );
  if ((rows[0]?.count ?? 0) < quota) return;
  throw new ServiceError('quota_exceeded', `The account may have at most ${quota} deployments.`);
}

/** The creation has failed for certain. */
export async function giveUpPlace(directory: DirectoryDb, deploymentId: number): Promise<void> {
  await directory.deleteFrom('places').where('deployment_id', '=', deploymentId).execute();
}

/** The deployment counts towards no quota any more. */
export async function endPlace(directory: DirectoryDb, deploymentId: number): Promise<void> {
  await sql`
    update places set deleted_at = now() where deployment_id = ${deploymentId} and deleted_at is null`.execute(
    directory,
  );
}
