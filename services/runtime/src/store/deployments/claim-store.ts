import { sql } from 'kysely';
import { NotOwner } from '../leases/leases.js';
import type { Db } from '../tables/schema.js';

/** Those of the schemas that have no instance in the database. */
export async function emptySchemas(
  db: Db,
  deploymentId: number,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set();
  const { rows } = await sql<{ name: string }>`
    select name from unnest(cast(${[...names]} as text[])) as claimed (name)
    where not exists (select from instances where deployment_id = ${deploymentId} and entity_schema = name)`.execute(
    db,
  );
  return new Set(rows.map(({ name }) => name));
}

/**
 * Removes the rows of claims that the lane has released, under the same epoch: a process that takes the deployment over
 * finds either all of them or none. @throws NotOwner
 */
export async function removeClaims(
  db: Db,
  { id, partition, epoch }: { id: number; partition: number; epoch: number },
  schemaIds: readonly number[],
): Promise<void> {
  if (schemaIds.length === 0) return;
  const { rows } = await sql`
    with lease as materialized (
      select id from partitions where id = ${partition} and epoch = ${epoch} for key share
    ), removed as (
      delete from claimed_schemas
      where deployment_id = ${id} and schema_id = any(${[...schemaIds]}) and exists (select from lease)
    ) select id from lease`.execute(db);
  if (rows.length === 0) throw new NotOwner(partition);
}

/** A claim on a version or a schema. The revision is null where an older catalog or an older runtime made it. */
export interface MadeClaim {
  readonly id: number;
  readonly revision: number | null;
}

export interface SchemaClaim extends MadeClaim {
  readonly name: string;
}
