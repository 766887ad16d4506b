import {
  attributeRpcs,
  type CreateEntitySchemaBody,
  type EntitySchemaRecord,
  entitySchemaRpcs,
  type Handlers,
  paginationOf,
  refuseChanged,
  refuseDeepPage,
  tagged,
  type UpdateEntitySchemaBody,
} from '@orrery/contracts';
import { refuseInUse } from '../../core/claims.js';
import { contentBytes } from '../../core/definitions/content-hash.js';
import {
  attributesOf,
  changedBy,
  checkAttribute,
  definedBy,
  refuseCostlyPatterns,
  refuseManyIndexed,
  refuseOversizedSchema,
  toDefinition,
} from '../../core/definitions/schema-rules.js';
import { announce } from '../../store/changes.js';
import { claimantsOf } from '../../store/claims/claim-store.js';
import {
  deleteAttribute,
  findAttribute,
  findSchema,
  holdSchema,
  insertAttributes,
  insertSchema,
  listAttributes,
  listSchemas,
  replaceAttribute,
  toAttributeRecord,
  toSchemaRecord,
  toStoredAttribute,
  updateSchema,
  versionsNaming,
} from '../../store/schemas/schema-store.js';
import type { Trx } from '../../store/tables/db.js';
import type { AttributeRow, EntitySchemaRow } from '../../store/tables/schema.js';
import { ownWorld, visibleWorld } from '../../store/worlds/world-access.js';
import { countSchemaBytes } from '../../store/worlds/world-counters.js';
import { addMember, deleteMember } from '../../store/worlds/world-members.js';
import { type CallersChange, type CatalogContext, changing, createOnce, deleting } from '../operation.js';

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
      createOnce(context, entitySchemaRpcs['entitySchemas.create'], request, call, async (change) => ({
        data: await createSchema(change, request.params.worldAddress, request.body),
      })),

    'entitySchemas.get': async ({ params }, { caller }) => {
      const world = await visibleWorld(db, params.worldAddress, caller);
      const schema = await findSchema(db, world.id, params.schemaName);
      return tagged(toSchemaRecord(schema, await listAttributes(db, [schema.id])));
    },

    'entitySchemas.update': ({ params, headers, body }, call) =>
      changing(context, call, async (change) =>
        tagged(await changeSchema(change, params, body, headers['if-match'])),
      ),

    'entitySchemas.delete': ({ params }, call) =>
      deleting(context, call, (change) => removeSchema(change, params)),
  };
}

async function createSchema(
  change: CallersChange,
  worldAddress: string,
  body: CreateEntitySchemaBody,
): Promise<EntitySchemaRecord> {
  const { trx, now, limits } = change;
  const world = await ownWorld(change, worldAddress, 'editing');
  const stored = attributesOf(body.attributes ?? [], limits);
  const definitions = stored.map(toDefinition);
  await addMember(trx, world.id, 'entity_schemas', limits.schemasPerWorld);
  await countSchemaBytes(trx, world.id, contentBytes(definitions), limits.worldSchemaBytes);
  const schema = await insertSchema(trx, world.id, body, definitions, now);
  const attributes = await insertAttributes(trx, schema.id, stored, now);
  await announce(change, world, 'entity_schema', schema, 'created');
  return toSchemaRecord(schema, attributes);
}

interface SchemaPath {
  worldAddress: string;
  schemaName: string;
}

async function changeSchema(
  change: CallersChange,
  { worldAddress, schemaName }: SchemaPath,
  body: UpdateEntitySchemaBody,
  known: string | undefined,
): Promise<EntitySchemaRecord> {
  const { trx, now } = change;
  const world = await ownWorld(change, worldAddress, 'shared');
  const renames = body.name !== undefined && body.name !== schemaName;
  const current = await holdSchema(trx, world.id, schemaName, renames ? 'alone' : 'editing');
  const attributes = await listAttributes(trx, [current.id]);
  refuseChanged(known, toSchemaRecord(current, attributes));
  if (renames) await refuseWhileInUse(trx, current, 'renamed');
  const schema = await updateSchema(trx, current, body, now);
  await announce(change, world, 'entity_schema', schema, 'updated');
  return toSchemaRecord(schema, attributes);
}

async function removeSchema(change: CallersChange, { worldAddress, schemaName }: SchemaPath): Promise<void> {
  const { trx, limits } = change;
  const world = await ownWorld(change, worldAddress, 'editing');
  const schema = await holdSchema(trx, world.id, schemaName, 'alone');
  await refuseWhileInUse(trx, schema, 'deleted');
  await deleteMember(trx, world.id, 'entity_schemas', schema.id);
  await countSchemaBytes(trx, world.id, -contentBytes(schema.definition), limits.worldSchemaBytes);
  await announce(change, world, 'entity_schema', schema, 'deleted');
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
      return tagged(toAttributeRecord(await findAttribute(db, schema, params.name)));
    },

    'attributes.update': ({ params, headers, body }, call) =>
      changing(context, call, async (change) => {
        const row = await editAttributes(change, params, async (schema) => {
          const current = await findAttribute(change.trx, schema, params.name);
          refuseChanged(headers['if-match'], toAttributeRecord(current));
          const saved = toStoredAttribute(current);
          const definition = changedBy(saved, body);
          checkAttribute(definition, saved);
          return replaceAttribute(change.trx, current.id, definition, change.now);
        });
        return tagged(toAttributeRecord(row));
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
  const stored = (await listAttributes(trx, [schema.id])).map(toStoredAttribute);
  refuseManyIndexed(stored);
  const attributes = stored.map(toDefinition);
  refuseCostlyPatterns(attributes, schema.definition);
  if (attributes.length >= schema.attribute_count) refuseOversizedSchema(attributes, limits);
  const growth = contentBytes(attributes) - contentBytes(schema.definition);
  await countSchemaBytes(trx, world.id, growth, limits.worldSchemaBytes);
  await updateSchema(trx, schema, { attributes }, now);
  await announce(change, world, 'entity_schema', schema, 'updated');
  return edited;
}
