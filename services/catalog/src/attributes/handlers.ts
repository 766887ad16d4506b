import { attributeRpcs, type Handlers, paginationOf, refuseDeepPage } from '@orrery/contracts';
import { transaction } from '@orrery/database';
import { createOnce } from '../changes/create-once.js';
import { findSchema } from '../entity-schemas/schema-store.js';
import { visibleWorld } from '../worlds/world-access.js';
import {
  changedBy,
  checkAttribute,
  definedBy,
  toAttributeDefinition,
  toAttributeRecord,
} from './attribute-rules.js';
import { deleteAttribute, insertAttributes, listAttributes, replaceAttribute } from './attribute-store.js';
import type { AttributeDependencies } from './edit-attributes.js';
import { editAttributes, requireAttribute } from './edit-attributes.js';

export function attributeHandlers(context: AttributeDependencies): Handlers<typeof attributeRpcs> {
  const { db } = context;
  return {
    'attributes.list': async ({ params, query }, { caller }) => {
      refuseDeepPage(query);
      const world = await visibleWorld(db, params.worldAddress, caller);
      const schema = await findSchema(db, world.id, params.schemaName);
      const rows = await listAttributes(db, schema.id, query);
      return { data: rows.map(toAttributeRecord), pagination: paginationOf(query, schema.attribute_count) };
    },

    'attributes.create': (request, call) =>
      createOnce(context, attributeRpcs['attributes.create'], request, call, async (trx) => {
        const definition = definedBy(request.body);
        const [row] = await editAttributes(context, trx, request.params, call.caller, (schema, now) => {
          checkAttribute(definition);
          return insertAttributes(trx, schema.id, [definition], now);
        });
        if (row === undefined) throw new Error('an insert returned no row');
        return { data: toAttributeRecord(row) };
      }),

    'attributes.get': async ({ params }, { caller }) => {
      const world = await visibleWorld(db, params.worldAddress, caller);
      const schema = await findSchema(db, world.id, params.schemaName);
      return { data: toAttributeRecord(await requireAttribute(db, schema, params.name)) };
    },

    'attributes.update': async ({ params, body }, { caller }) => ({
      data: await transaction(db, (trx) =>
        editAttributes(context, trx, params, caller, async (schema, now) => {
          const current = await requireAttribute(trx, schema, params.name);
          const definition = changedBy(toAttributeDefinition(current), body);
          checkAttribute(definition);
          return toAttributeRecord(await replaceAttribute(trx, current.id, definition, now));
        }),
      ),
    }),

    'attributes.delete': async ({ params }, { caller }) => {
      await transaction(db, (trx) =>
        editAttributes(context, trx, params, caller, async (schema) => {
          const { id } = await requireAttribute(trx, schema, params.name);
          await deleteAttribute(trx, id);
        }),
      );
      return { data: { deleted: true } };
    },
  };
}
