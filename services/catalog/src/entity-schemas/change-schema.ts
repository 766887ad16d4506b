import type {
  CallContext,
  Caller,
  CreateEntitySchemaBody,
  EntitySchemaRecord,
  UpdateEntitySchemaBody,
} from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import { checkAttributes, definedBy } from '../attributes/attribute-rules.js';
import { attributesOf, insertAttributes } from '../attributes/attribute-store.js';
import type { Announce } from '../changes/announce-change.js';
import { claimantsOf } from '../claims/claim-store.js';
import { inUse } from '../claims/in-use.js';
import type { CatalogLimits } from '../config.js';
import { type Db, nowOf, type Trx } from '../database/db.js';
import type { EntitySchemaRow } from '../database/schema.js';
import { contentBytes } from '../hashing/content-hash.js';
import { ownWorld } from '../worlds/world-access.js';
import { addMember, countSchemaBytes, removeMember } from '../worlds/world-counters.js';
import { refuseOversizedSchema, toSchemaRecord } from './schema-rules.js';
import { deleteSchema, holdSchema, insertSchema, updateSchema, versionsNaming } from './schema-store.js';

/** What changes of entity schemas need. */
export interface SchemaDependencies {
  readonly db: Db;
  readonly clock: Clock;
  readonly limits: CatalogLimits;
  readonly announce: Announce;
}

/** Creates a schema and its attributes, all or nothing. */
export async function createSchema(
  context: SchemaDependencies,
  trx: Trx,
  worldAddress: string,
  body: CreateEntitySchemaBody,
  { caller }: CallContext,
): Promise<EntitySchemaRecord> {
  const world = await ownWorld(trx, worldAddress, caller, 'counting');
  const definitions = (body.attributes ?? []).map(definedBy);
  checkAttributes(definitions);
  refuseOversizedSchema(definitions, context.limits);
  const { schemasPerWorld, worldSchemaBytes } = context.limits;
  await addMember(trx, world.id, 'schema_count', schemasPerWorld);
  await countSchemaBytes(trx, world.id, contentBytes(definitions), worldSchemaBytes);
  const now = nowOf(context);
  const schema = await insertSchema(trx, world.id, body, definitions, now);
  const attributes = await insertAttributes(trx, schema.id, definitions, now);
  await context.announce(trx, world, {
    subject: 'entity_schema',
    id: schema.id,
    name: schema.name,
    change: 'created',
  });
  return toSchemaRecord(schema, attributes);
}

interface SchemaPath {
  worldAddress: string;
  schemaName: string;
}

/** @throws ServiceError `entity_schema_in_use` when a version names it or a deployment has instances of it. */
async function refuseWhileInUse(trx: Trx, schema: EntitySchemaRow, what: string): Promise<void> {
  const versions = await versionsNaming(trx, schema);
  if (versions.length > 0)
    throw inUse('entity_schema_in_use', {
      what: `The schema cannot be ${what} while event versions use it`,
      users: versions.map(({ event, version }) => `version ${version} of "${event}"`),
      advice: 'Change or delete them first; a locked version keeps its schemas for ever.',
    });
  const users = await claimantsOf(trx, 'schema', schema.id);
  if (users.length > 0)
    throw inUse('entity_schema_in_use', {
      what: `The schema cannot be ${what} while deployments have instances of it`,
      users,
      advice: 'Delete the instances first.',
    });
}

export async function changeSchema(
  context: SchemaDependencies,
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
  await context.announce(trx, world, {
    subject: 'entity_schema',
    id: schema.id,
    name: schema.name,
    change: 'updated',
  });
  return toSchemaRecord(schema, await attributesOf(trx, [schema.id]));
}

export async function removeSchema(
  context: SchemaDependencies,
  trx: Trx,
  { worldAddress, schemaName }: SchemaPath,
  caller: Caller,
): Promise<void> {
  const world = await ownWorld(trx, worldAddress, caller, 'counting');
  const schema = await holdSchema(trx, world.id, schemaName, 'alone');
  await refuseWhileInUse(trx, schema, 'deleted');
  await deleteSchema(trx, schema.id);
  await removeMember(trx, world.id, 'schema_count');
  await countSchemaBytes(trx, world.id, -contentBytes(schema.definition), context.limits.worldSchemaBytes);
  await context.announce(trx, world, {
    subject: 'entity_schema',
    id: schema.id,
    name: schema.name,
    change: 'deleted',
  });
}
