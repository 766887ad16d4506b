import type { AttributeDefinition, PageQuery } from '@orrery/contracts';
import { page } from '@orrery/database';
import { type Db, json, type Trx } from '../database/db.js';
import type { AttributeRow } from '../database/schema.js';

const columnsOf = ({ name, type, constraints, defaultValue }: AttributeDefinition) => ({
  name,
  type,
  constraints: json(constraints),
  default_value: json(defaultValue),
});

/** In the order given, which is the order of their ids. */
export async function insertAttributes(
  trx: Trx,
  schemaId: number,
  definitions: readonly AttributeDefinition[],
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

export const findAttribute = (db: Db, schemaId: number, name: string): Promise<AttributeRow | undefined> =>
  db
    .selectFrom('attributes')
    .selectAll()
    .where('schema_id', '=', schemaId)
    .where('name', '=', name)
    .executeTakeFirst();

export const replaceAttribute = (
  trx: Trx,
  id: number,
  definition: AttributeDefinition,
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

export const listAttributes = (db: Db, schemaId: number, query: PageQuery): Promise<AttributeRow[]> =>
  attributesPage(db, schemaId, query).execute();

const attributesPage = (db: Db, schemaId: number, query: PageQuery) =>
  page(db.selectFrom('attributes').selectAll().where('schema_id', '=', schemaId).orderBy('id'), query);

/** All attributes of some schemas, in order of creation. */
export const attributesOf = (db: Db, schemaIds: readonly number[]): Promise<AttributeRow[]> =>
  schemaIds.length === 0
    ? Promise.resolve([])
    : db
        .selectFrom('attributes')
        .selectAll()
        .where('schema_id', 'in', [...schemaIds])
        .orderBy('id')
        .execute();
