import {
  type AttributeDefinition,
  type CreateEntitySchemaBody,
  type PageQuery,
  ServiceError,
  type UpdateEntitySchemaBody,
} from '@orrery/contracts';
import { page } from '@orrery/database';
import { sql } from 'kysely';
import { type Db, json, type Trx } from '../database/db.js';
import type { EntitySchemaRow } from '../database/schema.js';
import { schemaHash } from './schema-rules.js';

/** `alone` (deletion, renaming) excludes all who refer to the schema; `editing` excludes other editors. */
export type SchemaHold = 'editing' | 'alone';

const selectSchema = (db: Db, worldId: number, name: string) =>
  db.selectFrom('entity_schemas').selectAll().where('world_id', '=', worldId).where('name', '=', name);

const orNotFound = (row: EntitySchemaRow | undefined): EntitySchemaRow => {
  if (row === undefined) throw new ServiceError('entity_schema_not_found');
  return row;
};

/** @throws ServiceError `entity_schema_not_found`. */
export const findSchema = async (db: Db, worldId: number, name: string): Promise<EntitySchemaRow> =>
  orNotFound(await selectSchema(db, worldId, name).executeTakeFirst());

/** The schema, locked until the transaction ends. @throws ServiceError `entity_schema_not_found`. */
export async function holdSchema(
  trx: Trx,
  worldId: number,
  name: string,
  hold: SchemaHold,
): Promise<EntitySchemaRow> {
  const query = selectSchema(trx, worldId, name);
  const held = hold === 'alone' ? query.forUpdate() : query.forNoKeyUpdate();
  return orNotFound(await held.executeTakeFirst());
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

export function updateSchema(
  trx: Trx,
  current: EntitySchemaRow,
  body: UpdateEntitySchemaBody,
  now: Date,
): Promise<EntitySchemaRow> {
  const name = body.name ?? current.name;
  return trx
    .updateTable('entity_schemas')
    .set({
      name,
      hash: schemaHash(name, current.definition),
      ...(body.description !== undefined && { description: body.description }),
      updated_at: now,
    })
    .where('id', '=', current.id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Updates the schema's definition and hash from its attributes. */
export async function setDefinition(
  trx: Trx,
  { id, name }: EntitySchemaRow,
  attributes: AttributeDefinition[],
  now: Date,
): Promise<void> {
  await trx
    .updateTable('entity_schemas')
    .set({
      attribute_count: attributes.length,
      definition: json(attributes),
      hash: schemaHash(name, attributes),
      updated_at: now,
    })
    .where('id', '=', id)
    .execute();
}

export async function deleteSchema(trx: Trx, id: number): Promise<void> {
  await trx.deleteFrom('entity_schemas').where('id', '=', id).execute();
}

/** Whether a version names the schema or a locked one holds a copy of it. */
export async function isSchemaNamed(trx: Trx, id: number): Promise<boolean> {
  const naming = await trx
    .selectFrom('version_schemas')
    .select('version_id')
    .where('schema_id', '=', id)
    .limit(1)
    .executeTakeFirst();
  return naming !== undefined;
}

/**
 * Whether a template of the world has the schema in a change key, which then begins with its name and a colon. Such keys
 * are looked for here and not linked like other names, because a template may be older than the schema that it names.
 */
export async function isSchemaInTemplate(
  trx: Trx,
  { world_id, name }: Pick<EntitySchemaRow, 'world_id' | 'name'>,
): Promise<boolean> {
  const objectKeys = (json: ReturnType<typeof sql>) =>
    sql`json_object_keys(case when json_typeof(${json}) = 'object' then ${json} end)`;
  const template = sql`(v.definition -> 'mutationSettings' -> 'template')`;
  const { rows } = await sql`
    select from events e join event_versions v on v.event_id = e.id
    where e.world_id = ${world_id} and exists (
      select from (
        select ${objectKeys(template)} as key
        union all select ${objectKeys(sql`(${template} -> 'stateChanges')`)}
      ) as change where starts_with(normalize(key, NFC), ${`${name}:`})
    ) limit 1`.execute(trx);
  return rows.length > 0;
}

export const schemasPage = (db: Db, worldId: number, query: PageQuery) =>
  page(db.selectFrom('entity_schemas').selectAll().where('world_id', '=', worldId).orderBy('id'), query);
