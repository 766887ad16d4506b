import type { CallContext, CreateEntitySchemaBody, EntitySchemaRecord } from '@orrery/contracts';
import { definedBy } from '../attributes/attribute-rules.js';
import { insertAttributes } from '../attributes/attribute-store.js';
import { checkAttributes } from '../attributes/check-attributes.js';
import { type CatalogContext, type CatalogTransaction, nowOf } from '../context.js';
import { contentBytes } from '../hashing/content-hash.js';
import { addMember } from '../worlds/member-counters.js';
import { countSchemaBytes } from '../worlds/schema-bytes.js';
import { ownWorld } from '../worlds/world-access.js';
import { refuseOversizedSchema, toSchemaRecord } from './schema-rules.js';
import { insertSchema } from './schema-store.js';

/** A schema and its attributes, all or nothing. */
export async function createSchema(
  context: CatalogContext,
  trx: CatalogTransaction,
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
