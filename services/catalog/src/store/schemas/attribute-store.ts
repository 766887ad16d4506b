import {
  type AttributeDefinition,
  type AttributeRecord,
  type PageQuery,
  ServiceError,
} from '@orrery/contracts';
import { page } from '@orrery/database';
import { noSuch } from '../../core/problems.js';
import { type Db, json, type Trx, timesOf } from '../tables/db.js';
import type { AttributeRow, EntitySchemaRow } from '../tables/schema.js';

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
  ...toAttributeDefinition(row),
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
