import { parseReference } from '@orrery/contracts';
import { sql } from 'kysely';
import { PARTITIONS } from '../leases/leases.js';
import type { DirectoryDb } from '../tables/directory.js';
import type { Db } from '../tables/schema.js';

/** A deployment of another database, by address or numeric id; `undefined` when the directory knows none. */
export async function findElsewhere(
  directory: DirectoryDb,
  deployment: string,
): Promise<{ id: number; address: string } | undefined> {
  const reference = parseReference(deployment);
  if (reference === undefined) return undefined;
  return directory
    .selectFrom('places')
    .select(['deployment_id as id', 'address'])
    .where('deleted_at', 'is', null)
    .where((where) =>
      'id' in reference
        ? where('deployment_id', '=', reference.id)
        : where('address', '=', reference.address),
    )
    .executeTakeFirst();
}

/** Asks for a deployment of another database to be paused or resumed. */
export async function askElsewhere(directory: DirectoryDb, id: number, paused: boolean): Promise<void> {
  await sql`
    insert into operator_pauses (deployment_id, paused) values (${id}, ${paused})
    on conflict (deployment_id) do update set paused = excluded.paused, done = false`.execute(directory);
}

/** Whether that was carried out. */
export async function isDoneElsewhere(directory: DirectoryDb, id: number): Promise<boolean> {
  const { rows } = await sql<{ done: boolean }>`
    select done from operator_pauses where deployment_id = ${id}`.execute(directory);
  return rows[0]?.done === true;
}

const AT_ONCE = 100;

/** Takes over what was asked for elsewhere of deployments of these partitions, and says what is carried out. */
export async function takeOverPauses(
  db: Db,
  directory: DirectoryDb,
  partitions: readonly number[],
): Promise<void> {
  const { rows } = await sql<{ id: number; paused: boolean }>`
    select deployment_id as id, paused from operator_pauses
    where not done and deployment_id % ${PARTITIONS} = any(${[...partitions]}) order by 1 limit ${AT_ONCE}`.execute(
    directory,
  );
  if (rows.length === 0) return;
  const asked = JSON.stringify(rows);
  await sql`
    insert into operator_pauses as known (deployment_id, paused)
    select a.id, a.paused from jsonb_to_recordset(cast(${asked} as jsonb)) as a (id bigint, paused boolean)
    join deployments d on d.id = a.id
    on conflict (deployment_id) do update set paused = excluded.paused where known.paused <> excluded.paused`.execute(
    db,
  );
  const { rows: done } = await sql<{ id: number; paused: boolean }>`
    select a.id, a.paused from jsonb_to_recordset(cast(${asked} as jsonb)) as a (id bigint, paused boolean)
    left join deployments d on d.id = a.id
    where d.deleted_at is not null or d.operator_paused = a.paused
      -- One on its way to another database is not here meanwhile: it is paused where it arrives.
      or d.id is null and exists (
        select from partitions p where p.id = a.id % ${PARTITIONS} and p.generation > 0)`.execute(db);
  await sql`
    update operator_pauses p set done = true
    from jsonb_to_recordset(cast(${JSON.stringify(done)} as jsonb)) as d (id bigint, paused boolean)
    where p.deployment_id = d.id and p.paused = d.paused`.execute(directory);
}
