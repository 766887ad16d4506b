import {
  type AttributeDefinition,
  type CreateEntitySchemaBody,
  MOST_NAME_UNITS,
  type PageQuery,
  ServiceError,
  type UpdateEntitySchemaBody,
} from '@orrery/contracts';
import { page } from '@orrery/database';
import { sql } from 'kysely';
import { USERS_SOUGHT } from '../claims/in-use.js';
import { type Db, json, type Trx } from '../database/db.js';
import type { EntitySchemaRow } from '../database/schema.js';
import { noSuchSchema, schemaNames } from './schema-names.js';
import { schemaHash } from './schema-rules.js';

/** `alone` (deletion, renaming) excludes all who refer to the schema; `editing` excludes other editors. */
export type SchemaHold = 'editing' | 'alone';

const selectSchema = (db: Db, worldId: number, name: string) =>
  db.selectFrom('entity_schemas').selectAll().where('world_id', '=', worldId).where('name', '=', name);

const notFound = async (db: Db, worldId: number, name: string): Promise<ServiceError> =>
  new ServiceError('entity_schema_not_found', noSuchSchema(name, await schemaNames(db, worldId)));

/** @throws ServiceError `entity_schema_not_found`. */
export async function findSchema(db: Db, worldId: number, name: string): Promise<EntitySchemaRow> {
  const row = await selectSchema(db, worldId, name).executeTakeFirst();
  if (row === undefined) throw await notFound(db, worldId, name);
  return row;
}

/** The schema, locked until the transaction ends. @throws ServiceError `entity_schema_not_found`. */
export async function holdSchema(
  trx: Trx,
  worldId: number,
  name: string,
  hold: SchemaHold,
): Promise<EntitySchemaRow> {
  const query = selectSchema(trx, worldId, name);
  const held = hold === 'alone' ? query.forUpdate() : query.forNoKeyUpdate();
  const row = await held.executeTakeFirst();
  if (row === undefined) throw await notFound(trx, worldId, name);
  return row;
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

export const schemasPage = (db: Db, worldId: number, query: PageQuery) =>
  page(db.selectFrom('entity_schemas').selectAll().where('world_id', '=', worldId).orderBy('id'), query);
