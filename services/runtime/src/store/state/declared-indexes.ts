import { sql } from 'kysely';
import { partitionOf } from '../leases/leases.js';
import type { Db } from '../tables/schema.js';

/** The indexed attributes of each schema that has any, by the schema's id, as the catalog declares them. */
export type Declared = ReadonlyMap<number, readonly string[]>;

/** What is compared at once, of these partitions alone. */
export interface Comparison {
  readonly declared: Declared;
  readonly partitions: readonly number[];
  /** Rows that a statement looks at. */
  readonly atOnce: number;
}

/** A deployment with instances of a schema. */
interface Claimed {
  readonly deploymentId: number;
  readonly entitySchema: string;
  readonly schemaId: number;
  /** The attributes that are indexed or being so; null: none. */
  readonly kept: readonly string[] | null;
}

export type ClaimedPlace = Pick<Claimed, 'deploymentId' | 'entitySchema'>;

const FIRST: ClaimedPlace = { deploymentId: 0, entitySchema: '' };

/** Begins the indexes that the next deployments with instances lack. Answers where to go on, `undefined` at the end. */
export async function beginDeclared(
  db: Db,
  { declared, partitions, atOnce }: Comparison,
  after = FIRST,
): Promise<ClaimedPlace | undefined> {
  const { rows } = await sql<Claimed>`
    select c.deployment_id as "deploymentId", c.entity_schema as "entitySchema", c.schema_id as "schemaId", (
      select array_agg(x.attribute) from attribute_indexes x
      where x.deployment_id = c.deployment_id and x.entity_schema = c.entity_schema and x.state <> 'dropped'
    ) as kept
    from claimed_schemas c where (c.deployment_id, c.entity_schema) > (${after.deploymentId}, ${after.entitySchema})
    order by c.deployment_id, c.entity_schema limit ${atOnce}`.execute(db);
  const mine = new Set(partitions);
  const lacking = rows.flatMap(({ deploymentId, entitySchema, schemaId, kept }) => {
    const partition = partitionOf(deploymentId);
    if (!mine.has(partition)) return [];
    const missing = (declared.get(schemaId) ?? []).filter((attribute) => kept?.includes(attribute) !== true);
    return missing.map((attribute) => ({ deploymentId, partition, entitySchema, schemaId, attribute }));
  });
  if (lacking.length > 0) await begin(db, lacking);
  return rows.length < atOnce ? undefined : rows.at(-1);
}

const begin = (db: Db, indexes: readonly object[]) =>
  sql`
  insert into attribute_indexes (deployment_id, partition, entity_schema, schema_id, attribute, state)
  select n."deploymentId", n.partition, n."entitySchema", n."schemaId", n.attribute, 'building'
  from jsonb_to_recordset(cast(${JSON.stringify(indexes)} as jsonb))
    as n ("deploymentId" bigint, partition smallint, "entitySchema" text, "schemaId" bigint, attribute text)
  join deployments d on d.id = n."deploymentId" and d.deleted_at is null
  on conflict (deployment_id, entity_schema, attribute) where state <> 'dropped' do nothing`.execute(db);

interface Kept {
  readonly id: number;
  readonly partition: number;
  readonly schemaId: number;
  readonly attribute: string;
  readonly isDropped: boolean;
  readonly isDeleted: boolean | null;
}

/** Drops of the next indexes those that are not declared any more or whose deployment is deleted. Answers as `beginDeclared`. */
export async function dropUndeclared(
  db: Db,
  { declared, partitions, atOnce }: Comparison,
  after = 0,
): Promise<number | undefined> {
  const { rows } = await sql<Kept>`
    select x.id, x.partition, x.schema_id as "schemaId", x.attribute, x.state = 'dropped' as "isDropped", (
      select d.deleted_at is not null from deployments d where d.id = x.deployment_id
    ) as "isDeleted"
    from attribute_indexes x where x.id > ${after} order by x.id limit ${atOnce}`.execute(db);
  const mine = new Set(partitions);
  const superfluous = rows.filter(
    ({ partition, schemaId, attribute, isDropped, isDeleted }) =>
      mine.has(partition) &&
      !isDropped &&
      (isDeleted === true || declared.get(schemaId)?.includes(attribute) !== true),
  );
  if (superfluous.length > 0)
    await sql`
      update attribute_indexes set state = 'dropped', dropped_at = clock_timestamp()
      where id = any(${superfluous.map(({ id }) => id)}::bigint[]) and state <> 'dropped'`.execute(db);
  return rows.length < atOnce ? undefined : rows.at(-1)?.id;
}
