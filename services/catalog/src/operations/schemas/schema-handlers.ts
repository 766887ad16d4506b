import {
  type Caller,
  type CreateEntitySchemaBody,
  type EntitySchemaRecord,
  entitySchemaRpcs,
  type Handlers,
  paginationOf,
  refuseDeepPage,
  type UpdateEntitySchemaBody,
} from '@orrery/contracts';
import { transaction } from '@orrery/database';
import { refuseInUse } from '../../core/claims.js';
import { contentBytes } from '../../core/definitions/content-hash.js';
import { attributesOf } from '../../core/definitions/schema-rules.js';
import { claimantsOf } from '../../store/claims/claim-store.js';
import { insertAttributes, listAttributes } from '../../store/schemas/attribute-store.js';
import {
  findSchema,
  holdSchema,
  insertSchema,
  listSchemas,
  toSchemaRecord,
  updateSchema,
  versionsNaming,
} from '../../store/schemas/schema-store.js';
import { nowOf, type Trx } from '../../store/tables/db.js';
import type { EntitySchemaRow } from '../../store/tables/schema.js';
import { ownWorld, visibleWorld } from '../../store/worlds/world-access.js';
import { countSchemaBytes } from '../../store/worlds/world-counters.js';
import { addMember, deleteMember } from '../../store/worlds/world-members.js';
import { type CatalogContext, createOnce, deleteIn } from '../operation.js';

export function entitySchemaHandlers(context: CatalogContext): Handlers<typeof entitySchemaRpcs> {
  const { db } = context;
  return {
    'entitySchemas.list': async ({ params, query }, { caller }) => {
      refuseDeepPage(query);
      const world = await visibleWorld(db, params.worldAddress, caller);
      const rows = await listSchemas(db, world.id, query);
      const ids = rows.map(({ id }) => id);
      const attributes = await listAttributes(db, ids);
      const data = rows.map((row) => toSchemaRecord(row, attributes));
      return { data, pagination: paginationOf(query, world.schema_count) };
    },

    'entitySchemas.create': (request, call) =>
      createOnce(context, entitySchemaRpcs['entitySchemas.create'], request, call, async (trx) => ({
        data: await createSchema(context, trx, request.params.worldAddress, request.body, call.caller),
      })),

    'entitySchemas.get': async ({ params }, { caller }) => {
      const world = await visibleWorld(db, params.worldAddress, caller);
      const schema = await findSchema(db, world.id, params.schemaName);
      return { data: toSchemaRecord(schema, await listAttributes(db, [schema.id])) };
    },

    'entitySchemas.update': async ({ params, body }, { caller }) => ({
      data: await transaction(db, (trx) => changeSchema(context, trx, params, body, caller)),
    }),

    'entitySchemas.delete': ({ params }, { caller }) =>
      deleteIn(context, (trx) => removeSchema(context, trx, params, caller)),
  };
}

/** Creates a schema and its attributes, all or nothing. */
async function createSchema(
  context: CatalogContext,
  trx: Trx,
  worldAddress: string,
  body: CreateEntitySchemaBody,
  caller: Caller,
): Promise<EntitySchemaRecord> {
  const world = await ownWorld(trx, worldAddress, caller, 'counting');
  const definitions = attributesOf(body.attributes ?? [], context.limits);
  const { schemasPerWorld, worldSchemaBytes } = context.limits;
  await addMember(trx, world.id, 'entity_schemas', schemasPerWorld);
  await countSchemaBytes(trx, world.id, contentBytes(definitions), worldSchemaBytes);
  const now = nowOf(context);
  const schema = await insertSchema(trx, world.id, body, definitions, now);
  const attributes = await insertAttributes(trx, schema.id, definitions, now);
  await context.announce(trx, world, 'entity_schema', schema, 'created');
  return toSchemaRecord(schema, attributes);
}

interface SchemaPath {
  worldAddress: string;
  schemaName: string;
}

async function changeSchema(
  context: CatalogContext,
  trx: Trx,
  { worldAddress, schemaName }: SchemaPath,
  body: UpdateEntitySchemaBody,
  caller: Caller,
): Promise<EntitySchemaRecord> {
  const world = await ownWorld(trx, worldAddress, caller, 'shared');
  const renames = body.name !== undefined && body.name !== schemaName;
  const current = await holdSchema(trx, world.id, schemaName, renames ? 'alone' : 'editing');
  if (renames) await refuseWhileInUse(trx, current, 'renamed');
  const schema = await updateSchema(trx, current, body, nowOf(context));
  await context.announce(trx, world, 'entity_schema', schema, 'updated');
  return toSchemaRecord(schema, await listAttributes(trx, [schema.id]));
}

async function removeSchema(
  context: CatalogContext,
  trx: Trx,
  { worldAddress, schemaName }: SchemaPath,
  caller: Caller,
): Promise<void> {
  const world = await ownWorld(trx, worldAddress, caller, 'counting');
  const schema = await holdSchema(trx, world.id, schemaName, 'alone');
  await refuseWhileInUse(trx, schema, 'deleted');
  await deleteMember(trx, world.id, 'entity_schemas', schema.id);
  await countSchemaBytes(trx, world.id, -contentBytes(schema.definition), context.limits.worldSchemaBytes);
  await context.announce(trx, world, 'entity_schema', schema, 'deleted');
}

/** @throws ServiceError `entity_schema_in_use` when a version names it or a deployment has instances of it. */
async function refuseWhileInUse(trx: Trx, schema: EntitySchemaRow, what: string): Promise<void> {
  const versions = await versionsNaming(trx, schema);
  refuseInUse('entity_schema_in_use', {
    what: `The schema cannot be ${what} while event versions use it`,
    users: versions.map(({ event, version }) => `version ${version} of "${event}"`),
    advice: 'Change or delete them first; a locked version keeps its schemas for ever.',
  });
  refuseInUse('entity_schema_in_use', {
    what: `The schema cannot be ${what} while deployments have instances of it`,
    users: await claimantsOf(trx, 'schema', schema.id),
    advice: 'Delete the instances first.',
  });
}
