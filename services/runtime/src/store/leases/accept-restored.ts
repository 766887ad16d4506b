import { transaction } from '@orrery/database';
import { sql } from 'kysely';
import type { DirectoryDb } from '../tables/directory.js';
import type { Db } from '../tables/schema.js';
import { type Disagreement, databaseId, disagreements, homesOf, keptHere } from './homes.js';
import { raiseIds } from './spread-ids.js';

/** Heads that one statement marks. */
const HEADS = 10_000;

/**
 * Has the database and the directory agree again, under a generation that neither had. The database first: whoever stops in
 * between does it again. A partition that is not in the database is not accepted. @returns what was accepted
 */
export async function acceptDisagreements(db: Db, directory: DirectoryDb): Promise<Disagreement[]> {
  const id = await databaseId(db);
  const accepted = disagreements(await homesOf(directory, id), await keptHere(db)).filter(
    ({ here }) => here > 0,
  );
  const next = JSON.stringify(
    accepted.map((one) => ({ ...one, generation: Math.max(one.here, one.there) + 1 })),
  );
  await markHeads(
    db,
    accepted.map(({ partition }) => partition),
  );
  await sql`
    update partitions p set generation = n.generation
    from jsonb_to_recordset(cast(${next} as jsonb)) as n (partition smallint, here bigint, generation bigint)
    where p.id = n.partition and p.generation = n.here`.execute(db);
  await sql`
    update homes h set generation = n.generation
    from jsonb_to_recordset(cast(${next} as jsonb)) as n (partition smallint, there bigint, generation bigint)
    where h.partition = n.partition and h.generation = n.there and h.database = ${id}`.execute(directory);
  // One of the two is older than the other: places of deployments may be missing, and ids be given out again.
  await sql`update databases set compared_at = null where id = ${id}`.execute(directory);
  await raiseIds(db, directory);
  return accepted;
}

/** Heads look changed: who compares heads has those of a time after the backup. Nobody serves them before generations agree. */
async function markHeads(db: Db, partitions: readonly number[]): Promise<void> {
  if (partitions.length === 0) return;
  for (let after: number | undefined = 0; after !== undefined; )
    after = await markSome(db, partitions, after);
}

async function markSome(db: Db, partitions: readonly number[], after: number): Promise<number | undefined> {
  const step = sql<{ last: number | null }>`
    with page as materialized (
      select deployment_id as id from journal_heads
      where deployment_id > ${after} and deployment_id % 64 = any(${[...partitions]})
      order by deployment_id limit ${HEADS} for no key update
    ), marked as (
      update journal_heads h set active_minute = floor(extract(epoch from now()) / 60)::integer
      from page where h.deployment_id = page.id
    )
    select max(id) as last from page`;
  const { rows } = await transaction(db, (trx) => step.execute(trx));
  return rows[0]?.last ?? undefined;
}
