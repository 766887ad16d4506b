import type { JsonValue } from '@orrery/contracts';
import { sql } from 'kysely';
import type { Db } from '../tables/schema.js';

/** An index that the commits of its deployment keep. */
export interface AttributeIndex {
  readonly id: number;
  readonly entitySchema: string;
  readonly attribute: string;
}

/** The indexes of the deployment `d`, as JSON; null: none. */
export const KEPT_INDEXES = `(select jsonb_agg(jsonb_build_object('id', x.id, 'entitySchema', x.entity_schema,
    'attribute', x.attribute)) from attribute_indexes x where x.deployment_id = d.id and x.state <> 'dropped')`;

export async function keptIndexes(db: Db, deploymentId: number): Promise<AttributeIndex[]> {
  const { rows } = await sql<AttributeIndex>`
    select id, entity_schema as "entitySchema", attribute from attribute_indexes
    where deployment_id = ${deploymentId} and state <> 'dropped'`.execute(db);
  return rows;
}

/** Those of one schema that queries may read. What is complete stays so until well after the last query that saw it. */
export async function completeIndexes(
  db: Db,
  deploymentId: number,
  entitySchema: string,
): Promise<AttributeIndex[]> {
  const { rows } = await sql<AttributeIndex>`
    select id, entity_schema as "entitySchema", attribute from attribute_indexes
    where deployment_id = ${deploymentId} and entity_schema = ${entitySchema} and state <> 'dropped'
      and state = 'complete'`.execute(db);
  return rows;
}

/** An index that is not complete yet, or not gone yet. */
export interface UnfinishedIndex extends AttributeIndex {
  readonly deploymentId: number;
  readonly isDropped: boolean;
  /** It was dropped so long ago that no query reads it any more. */
  readonly isUnread: boolean;
}

/** Much longer than a query takes: it begins with the look-up of what is complete. */
const UNREAD_AFTER = '1 minute';

/** In the order in which they were begun, from behind `after` on. */
export async function unfinishedIndexes(
  db: Db,
  partitions: readonly number[],
  after: number,
  limit: number,
): Promise<UnfinishedIndex[]> {
  const { rows } = await sql<UnfinishedIndex>`
    select id, deployment_id as "deploymentId", entity_schema as "entitySchema", attribute, state = 'dropped' as "isDropped",
      coalesce(dropped_at < clock_timestamp() - ${UNREAD_AFTER}::interval, false) as "isUnread"
    from attribute_indexes
    where partition = any(cast(${[...partitions]} as smallint[])) and state <> 'complete' and id > ${after}
    order by id limit ${limit}`.execute(db);
  return rows;
}

/** An instance whose value is not in the index yet, as far as it is known here. */
export interface UnindexedInstance {
  readonly id: number;
  readonly instanceId: string;
  /** Null where it is missing, too. */
  readonly value: JsonValue;
}

/** The next instances that the index has not come to, in the order of their ids. */
export async function unindexedInstances(
  db: Db,
  { id, deploymentId, entitySchema, attribute }: UnfinishedIndex,
  limit: number,
): Promise<UnindexedInstance[]> {
  const { rows } = await sql<UnindexedInstance>`
    select i.id, i.instance_id as "instanceId", i.state -> ${attribute}::text as value from instances i
    where i.deployment_id = ${deploymentId} and i.entity_schema = ${entitySchema}
      and i.id > (select built_to from attribute_indexes where id = ${id})
    order by i.id limit ${limit}`.execute(db);
  return rows;
}

/**
 * After many values came at once: without statistics PostgreSQL sorts the rows of an index that it could read in order, and
 * its own daemon may take minutes to notice.
 */
export async function gatherStatistics(db: Db): Promise<void> {
  await sql`analyze indexed_values`.execute(db);
}

const DELETED_AT_ONCE = 5000;

/** Deletes an index that was dropped, in statements that each take little. */
export async function deleteIndex(db: Db, id: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const { numAffectedRows = 0n } = await sql`
      delete from indexed_values where index_id = ${id} and instance_id in (
        select instance_id from indexed_values where index_id = ${id} limit ${DELETED_AT_ONCE})`.execute(db);
    if (numAffectedRows < DELETED_AT_ONCE) break;
  }
  await sql`delete from attribute_indexes where id = ${id} and state = 'dropped'`.execute(db);
}
