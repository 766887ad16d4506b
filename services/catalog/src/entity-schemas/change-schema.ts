import {
  type Caller,
  type EntitySchemaRecord,
  ServiceError,
  type UpdateEntitySchemaBody,
} from '@orrery/contracts';
import { attributesOf } from '../attributes/attribute-store.js';
import { isClaimed } from '../claims/claim-store.js';
import { type CatalogContext, type CatalogTransaction, nowOf } from '../context.js';
import { contentBytes } from '../hashing/content-hash.js';
import { removeMember } from '../worlds/member-counters.js';
import { countSchemaBytes } from '../worlds/schema-bytes.js';
import { ownWorld } from '../worlds/world-access.js';
import { toSchemaRecord } from './schema-rules.js';
import { deleteSchema, holdSchema, isSchemaNamed, updateSchema } from './schema-store.js';

interface SchemaPath {
  worldAddress: string;
  schemaName: string;
}

/** @throws ServiceError `entity_schema_in_use` when a version names it or a deployment has instances of it. */
async function refuseWhileInUse(trx: CatalogTransaction, id: number, what: string): Promise<void> {
  if (await isSchemaNamed(trx, id))
    throw new ServiceError('entity_schema_in_use', `An event version uses the schema; it cannot be ${what}.`);
  if (await isClaimed(trx, 'schema', id))
    throw new ServiceError('entity_schema_in_use', `Instances use the schema; it cannot be ${what}.`);
}

export async function changeSchema(
  context: CatalogContext,
  trx: CatalogTransaction,
  { worldAddress, schemaName }: SchemaPath,
  body: UpdateEntitySchemaBody,
  caller: Caller,
): Promise<EntitySchemaRecord> {
  const world = await ownWorld(trx, worldAddress, caller, 'shared');
  const renames = body.name !== undefined && body.name !== schemaName;
  const current = await holdSchema(trx, world.id, schemaName, renames ? 'alone' : 'editing');
  if (renames) await refuseWhileInUse(trx, current.id, 'renamed');
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
  context: CatalogContext,
  trx: CatalogTransaction,
  { worldAddress, schemaName }: SchemaPath,
  caller: Caller,
): Promise<void> {
  const world = await ownWorld(trx, worldAddress, caller, 'counting');
  const schema = await holdSchema(trx, world.id, schemaName, 'alone');
  await refuseWhileInUse(trx, schema.id, 'deleted');
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
