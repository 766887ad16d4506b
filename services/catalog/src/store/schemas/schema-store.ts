import {
  type AttributeDefinition,
  type AttributeRecord,
  type CreateEntitySchemaBody,
  type EntitySchemaRecord,
  MOST_NAME_UNITS,
  type PageQuery,
  type SchemaDefinition,
  ServiceError,
  type UpdateEntitySchemaBody,
} from '@orrery/contracts';
import { page } from '@orrery/database';
import { sql } from 'kysely';
import { USERS_SOUGHT } from '../../core/claims.js';
import { type StoredAttribute, schemaHash } from '../../core/definitions/schema-rules.js';
import { noSuch } from '../../core/problems.js';
import { type Db, type Hold, held, json, type Trx, timesOf } from '../tables/db.js';
import type { AttributeRow, EntitySchemaRow } from '../tables/schema.js';
import { orNotFound } from '../worlds/world-members.js';

const columnsOf = ({ name, type, constraints, defaultValue, indexed }: StoredAttribute) => ({
  name,
  type,
  constraints: json(constraints),
  default_value: json(defaultValue),
  indexed,
});

/** In the order given, which is the order of their ids. */
export async function insertAttributes(
  trx: Trx,
  schemaId: number,
  definitions: readonly StoredAttribute[],
  now: Date,
): Promise<AttributeRow[]> {
  if (definitions.length === 0) return [];
  const rows = await trx
    .insertInto('attributes')
    .values(
      definitions.map((definition) => ({
        schema_id: schemaId,
        ...columnsOf(definition),
        created_at: now,
        updated_at: now,
      })),
    )
    .returningAll()
    .execute();
  return rows.sort((a, b) => a.id - b.id);
}

/** @throws ServiceError `attribute_not_found`. */
export async function findAttribute(
  db: Db,
  { id, name: schema, definition }: Pick<EntitySchemaRow, 'id' | 'name' | 'definition'>,
  name: string,
): Promise<AttributeRow> {
  const query = db.selectFrom('attributes').selectAll().where('schema_id', '=', id);
  const attribute = await query.where('name', '=', name).executeTakeFirst();
  if (attribute !== undefined) return attribute;
  const known = definition.map((one) => one.name);
  const message = noSuch(`The entity schema "${schema}"`, 'attribute', name, known);
  throw new ServiceError('attribute_not_found', message);
}

export const replaceAttribute = (
  trx: Trx,
  id: number,
  definition: StoredAttribute,
  now: Date,
): Promise<AttributeRow> =>
  trx
    .updateTable('attributes')
    .set({ ...columnsOf(definition), updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();

export async function deleteAttribute(trx: Trx, id: number): Promise<void> {
  await trx.deleteFrom('attributes').where('id', '=', id).execute();
}

/** The attributes of some schemas, in order of creation: all, or a page of them. */
export async function listAttributes(
  db: Db,
  schemaIds: readonly number[],
  query?: PageQuery,
): Promise<AttributeRow[]> {
  if (schemaIds.length === 0) return [];
  const all = db.selectFrom('attributes').selectAll().where('schema_id', 'in', schemaIds).orderBy('id');
  return (query === undefined ? all : page(all, query)).execute();
}

export const toAttributeRecord = (row: AttributeRow): AttributeRecord => ({
  id: row.id,
  ...toStoredAttribute(row),
  ...timesOf(row),
});

export const toAttributeDefinition = (
  row: Pick<AttributeRow, 'name' | 'type' | 'constraints' | 'default_value'>,
): AttributeDefinition => ({
  name: row.name,
  type: row.type,
  constraints: row.constraints,
  defaultValue: row.default_value,
});

export const toStoredAttribute = (row: AttributeRow): StoredAttribute => ({
  ...toAttributeDefinition(row),
  indexed: row.indexed,
});

/** Schemas with indexed attributes, in order of their ids. */
export async function indexedSchemas(
  db: Db,
  after: number,
  limit: number,
): Promise<{ schemaId: number; attributes: string[] }[]> {
  return db
    .selectFrom('attributes')
    .select((of) => ['schema_id as schemaId', of.fn.agg<string[]>('array_agg', ['name']).as('attributes')])
    .where('indexed', '=', true)
    .where('schema_id', '>', after)
    .groupBy('schema_id')
    .orderBy('schema_id')
    .limit(limit)
    .execute();
}

const selectSchemas = (db: Db, worldId: number) =>
  db.selectFrom('entity_schemas').selectAll().where('world_id', '=', worldId);

/** @throws ServiceError `entity_schema_not_found`. */
export async function findSchema(db: Db, worldId: number, name: string): Promise<EntitySchemaRow> {
  const row = await selectSchemas(db, worldId).where('name', '=', name).executeTakeFirst();
  return orNotFound(row, db, 'entity_schemas', worldId, name);
}

/** The schema, locked until the transaction ends. @throws ServiceError `entity_schema_not_found`. */
export async function holdSchema(
  trx: Trx,
  worldId: number,
  name: string,
  hold: Hold,
): Promise<EntitySchemaRow> {
  const query = selectSchemas(trx, worldId).where('name', '=', name);
  return orNotFound(await held(query, hold).executeTakeFirst(), trx, 'entity_schemas', worldId, name);
}

/** Those of the named schemas that exist, or all, locked against deletion and renaming, in order of id. */
export async function holdSchemas(
  trx: Trx,
  worldId: number,
  names: readonly string[] | 'all',
): Promise<EntitySchemaRow[]> {
  if (names.length === 0) return [];
  const query = selectSchemas(trx, worldId).orderBy('id').forKeyShare();
  return (names === 'all' ? query : query.where('name', 'in', names)).execute();
}

export const insertSchema = (
  trx: Trx,
  worldId: number,
  body: CreateEntitySchemaBody,
  attributes: AttributeDefinition[],
  now: Date,
): Promise<EntitySchemaRow> =>
  trx
    .insertInto('entity_schemas')
    .values({
      world_id: worldId,
      name: body.name,
      description: body.description ?? null,
      attribute_count: attributes.length,
      definition: json(attributes),
      hash: schemaHash(body.name, attributes),
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();

/** Absent members stay. @param changed its attributes, as their rows now are */
export function updateSchema(
  trx: Trx,
  current: EntitySchemaRow,
  changed: UpdateEntitySchemaBody & { attributes?: AttributeDefinition[] },
  now: Date,
): Promise<EntitySchemaRow> {
  const { name = current.name, description, attributes = current.definition } = changed;
  return trx
    .updateTable('entity_schemas')
    .set({
      name,
      description,
      attribute_count: attributes.length,
      definition: json(attributes),
      hash: schemaHash(name, attributes),
      updated_at: now,
    })
    .where('id', '=', current.id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/**
 * Versions that use the schema, some of them: those that name it, locked ones that hold a copy of it, and those whose
 * template has it in a change key, which then begins with its name and a colon. Such keys are looked for here and not
 * linked like other names, because links belong to what a version's hash covers (docs/catalog.md). PostgreSQL, too, takes
 * the square of a text's length to normalize it, so what is longer than any name is left alone.
 */
export async function versionsNaming(
  trx: Trx,
  { id, world_id, name }: Pick<EntitySchemaRow, 'id' | 'world_id' | 'name'>,
): Promise<{ event: string; version: number }[]> {
  const objectKeys = (json: ReturnType<typeof sql>) =>
    sql`json_object_keys(case when json_typeof(${json}) = 'object' then ${json} end)`;
  const template = sql`(v.definition -> 'mutationSettings' -> 'template')`;
  const { rows } = await sql<{ event: string; version: number }>`
    select e.name as event, v.version from events e join event_versions v on v.event_id = e.id
    where e.world_id = ${world_id} and (
      exists (select from version_schemas l where l.version_id = v.id and l.schema_id = ${id})
      or exists (
        select from (
          select ${objectKeys(template)} as key
          union all select ${objectKeys(sql`(${template} -> 'stateChanges')`)}
        ) as change where case
          when strpos(key, ':') between 2 and ${MOST_NAME_UNITS}
          then normalize(left(key, strpos(key, ':') - 1), NFC) = ${name}
        end
      )
    ) order by e.id, v.version limit ${USERS_SOUGHT}`.execute(trx);
  return rows;
}

export const listSchemas = (db: Db, worldId: number, query: PageQuery): Promise<EntitySchemaRow[]> =>
  page(selectSchemas(db, worldId).orderBy('id'), query).execute();

/** @param attributes of this schema and perhaps of others */
export const toSchemaRecord = (
  row: EntitySchemaRow,
  attributes: readonly AttributeRow[],
): EntitySchemaRecord => ({
  id: row.id,
  worldId: row.world_id,
  name: row.name,
  description: row.description,
  attributes: attributes.filter(({ schema_id }) => schema_id === row.id).map(toAttributeRecord),
  ...timesOf(row),
});

export const toSchemaDefinition = (
  row: Pick<EntitySchemaRow, 'id' | 'name' | 'definition' | 'hash'>,
): SchemaDefinition => ({ schemaId: row.id, name: row.name, attributes: row.definition, hash: row.hash });
