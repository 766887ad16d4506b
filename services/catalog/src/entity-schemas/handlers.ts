import { entitySchemaRpcs, type Handlers, paginationOf, refuseDeepPage } from '@orrery/contracts';
import { transaction } from '@orrery/database';
import { attributesOf } from '../attributes/attribute-store.js';
import { createOnce } from '../changes/create-once.js';
import { visibleWorld } from '../worlds/world-access.js';
import type { SchemaDependencies } from './change-schema.js';
import { changeSchema, createSchema, removeSchema } from './change-schema.js';
import { toSchemaRecord } from './schema-rules.js';
import { findSchema, schemasPage } from './schema-store.js';

export function entitySchemaHandlers(context: SchemaDependencies): Handlers<typeof entitySchemaRpcs> {
  const { db } = context;
  return {
    'entitySchemas.list': async ({ params, query }, { caller }) => {
      refuseDeepPage(query);
      const world = await visibleWorld(db, params.worldAddress, caller);
      const rows = await schemasPage(db, world.id, query).execute();
      const ids = rows.map(({ id }) => id);
      const attributes = await attributesOf(db, ids);
      const data = rows.map((row) => toSchemaRecord(row, attributes));
      return { data, pagination: paginationOf(query, world.schema_count) };
    },

    'entitySchemas.create': (request, call) =>
      createOnce(context, entitySchemaRpcs['entitySchemas.create'], request, call, async (trx) => ({
        data: await createSchema(context, trx, request.params.worldAddress, request.body, call),
      })),

    'entitySchemas.get': async ({ params }, { caller }) => {
      const world = await visibleWorld(db, params.worldAddress, caller);
      const schema = await findSchema(db, world.id, params.schemaName);
      return { data: toSchemaRecord(schema, await attributesOf(db, [schema.id])) };
    },

    'entitySchemas.update': async ({ params, body }, { caller }) => ({
      data: await transaction(db, (trx) => changeSchema(context, trx, params, body, caller)),
    }),

    'entitySchemas.delete': async ({ params }, { caller }) => {
      await transaction(db, (trx) => removeSchema(context, trx, params, caller));
      return { data: { deleted: true } };
    },
  };
}
