import {
  type AttributeRecord,
  attributeRpcs,
  type Caller,
  type Handlers,
  paginationOf,
  refuseDeepPage,
} from '@orrery/contracts';
import { transaction } from '@orrery/database';
import { contentBytes } from '../../core/definitions/content-hash.js';
import {
  changedBy,
  checkAttribute,
  definedBy,
  refuseOversizedSchema,
} from '../../core/definitions/schema-rules.js';
import {
  deleteAttribute,
  findAttribute,
  insertAttributes,
  listAttributes,
  replaceAttribute,
  toAttributeDefinition,
  toAttributeRecord,
} from '../../store/schemas/attribute-store.js';
import { findSchema, holdSchema, updateSchema } from '../../store/schemas/schema-store.js';
import { nowOf, type Trx } from '../../store/tables/db.js';
import type { AttributeRow, EntitySchemaRow } from '../../store/tables/schema.js';
import { ownWorld, visibleWorld } from '../../store/worlds/world-access.js';
import { countSchemaBytes } from '../../store/worlds/world-counters.js';
import { type CatalogContext, createOnce, deleteIn } from '../operation.js';

export function attributeHandlers(context: CatalogContext): Handlers<typeof attributeRpcs> {
  const { db } = context;
  return {
    'attributes.list': async ({ params, query }, { caller }) => {
      refuseDeepPage(query);
      const world = await visibleWorld(db, params.worldAddress, caller);
      const schema = await findSchema(db, world.id, params.schemaName);
      const rows = await listAttributes(db, [schema.id], query);
      return { data: rows.map(toAttributeRecord), pagination: paginationOf(query, schema.attribute_count) };
    },

    'attributes.create': (request, call) =>
      createOnce(context, attributeRpcs['attributes.create'], request, call, async (trx) => {
        const definition = definedBy(request.body);
        const edit = (schema: EntitySchemaRow, now: Date) => {
          checkAttribute(definition);
          return insertAttributes(trx, schema.id, [definition], now);
        };
        const [row] = await editAttributes(context, trx, request.params, call.caller, edit);
        return { data: toAttributeRecord(row as AttributeRow) };
      }),

    'attributes.get': async ({ params }, { caller }) => {
      const world = await visibleWorld(db, params.worldAddress, caller);
      const schema = await findSchema(db, world.id, params.schemaName);
      return { data: toAttributeRecord(await findAttribute(db, schema, params.name)) };
    },

    'attributes.update': async ({ params, body }, { caller }) => ({
      data: await transaction(db, (trx) =>
        editAttributes(context, trx, params, caller, async (schema, now): Promise<AttributeRecord> => {
          const current = await findAttribute(trx, schema, params.name);
          const definition = changedBy(toAttributeDefinition(current), body);
          checkAttribute(definition);
          return toAttributeRecord(await replaceAttribute(trx, current.id, definition, now));
        }),
      ),
    }),

    'attributes.delete': ({ params }, { caller }) =>
      deleteIn(context, (trx) =>
        editAttributes(context, trx, params, caller, async (schema) => {
          const { id } = await findAttribute(trx, schema, params.name);
          await deleteAttribute(trx, id);
        }),
      ),
  };
}

interface SchemaPath {
  worldAddress: string;
  schemaName: string;
}

/**
 * All changes of attributes go through here: it locks the schema, `edit` changes rows, and the schema's definition and
 * hash are updated in the same transaction. Edits of one schema run one at a time.
 */
async function editAttributes<T>(
  context: CatalogContext,
  trx: Trx,
  { worldAddress, schemaName }: SchemaPath,
  caller: Caller,
  edit: (schema: EntitySchemaRow, now: Date) => Promise<T>,
): Promise<T> {
  const world = await ownWorld(trx, worldAddress, caller, 'counting');
  const schema = await holdSchema(trx, world.id, schemaName, 'editing');
  const now = nowOf(context);
  const edited = await edit(schema, now);
  const attributes = (await listAttributes(trx, [schema.id])).map(toAttributeDefinition);
  if (attributes.length >= schema.attribute_count) refuseOversizedSchema(attributes, context.limits);
  const growth = contentBytes(attributes) - contentBytes(schema.definition);
  await countSchemaBytes(trx, world.id, growth, context.limits.worldSchemaBytes);
  await updateSchema(trx, schema, { attributes }, now);
  await context.announce(trx, world, 'entity_schema', schema, 'updated');
  return edited;
}
