import { attributeRpcs, type Handlers, paginationOf, refuseDeepPage } from '@orrery/contracts';
import { contentBytes } from '../../core/definitions/content-hash.js';
import {
  changedBy,
  checkAttribute,
  definedBy,
  refuseOversizedSchema,
} from '../../core/definitions/schema-rules.js';
import { announce } from '../../store/changes.js';
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
import type { AttributeRow, EntitySchemaRow } from '../../store/tables/schema.js';
import { ownWorld, visibleWorld } from '../../store/worlds/world-access.js';
import { countSchemaBytes } from '../../store/worlds/world-counters.js';
import { type CallersChange, type CatalogContext, changing, createOnce, deleting } from '../operation.js';

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
      createOnce(context, attributeRpcs['attributes.create'], request, call, async (change) => {
        const definition = definedBy(request.body);
        const [row] = await editAttributes(change, request.params, (schema) => {
          checkAttribute(definition);
          return insertAttributes(change.trx, schema.id, [definition], change.now);
        });
        return { data: toAttributeRecord(row as AttributeRow) };
      }),

    'attributes.get': async ({ params }, { caller }) => {
      const world = await visibleWorld(db, params.worldAddress, caller);
      const schema = await findSchema(db, world.id, params.schemaName);
      return { data: toAttributeRecord(await findAttribute(db, schema, params.name)) };
    },

    'attributes.update': ({ params, body }, call) =>
      changing(context, call, async (change) => {
        const row = await editAttributes(change, params, async (schema) => {
          const current = await findAttribute(change.trx, schema, params.name);
          const definition = changedBy(toAttributeDefinition(current), body);
          checkAttribute(definition);
          return replaceAttribute(change.trx, current.id, definition, change.now);
        });
        return { data: toAttributeRecord(row) };
      }),

    'attributes.delete': ({ params }, call) =>
      deleting(context, call, (change) =>
        editAttributes(change, params, async (schema) => {
          const { id } = await findAttribute(change.trx, schema, params.name);
          await deleteAttribute(change.trx, id);
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
  change: CallersChange,
  { worldAddress, schemaName }: SchemaPath,
  edit: (schema: EntitySchemaRow) => Promise<T>,
): Promise<T> {
  const { trx, now, limits } = change;
  const world = await ownWorld(change, worldAddress, 'editing');
  const schema = await holdSchema(trx, world.id, schemaName, 'editing');
  const edited = await edit(schema);
  const attributes = (await listAttributes(trx, [schema.id])).map(toAttributeDefinition);
  if (attributes.length >= schema.attribute_count) refuseOversizedSchema(attributes, limits);
  const growth = contentBytes(attributes) - contentBytes(schema.definition);
  await countSchemaBytes(trx, world.id, growth, limits.worldSchemaBytes);
  await updateSchema(trx, schema, { attributes }, now);
  await announce(change, world, 'entity_schema', schema, 'updated');
  return edited;
}
