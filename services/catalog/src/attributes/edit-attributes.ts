import { type Caller, cutText, didYouMean, ServiceError } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import type { Announce } from '../changes/announce-change.js';
import type { CatalogLimits } from '../config.js';
import { type Db, nowOf, type Trx } from '../database/db.js';
import type { AttributeRow, EntitySchemaRow } from '../database/schema.js';
import { refuseOversizedSchema } from '../entity-schemas/schema-rules.js';
import { holdSchema, setDefinition } from '../entity-schemas/schema-store.js';
import { contentBytes } from '../hashing/content-hash.js';
import { ownWorld } from '../worlds/world-access.js';
import { countSchemaBytes } from '../worlds/world-counters.js';
import { toAttributeDefinition } from './attribute-rules.js';
import { attributesOf, findAttribute } from './attribute-store.js';

/** What changes of attributes need. */
export interface AttributeDependencies {
  readonly db: Db;
  readonly clock: Clock;
  readonly limits: CatalogLimits;
  readonly announce: Announce;
}

interface SchemaPath {
  worldAddress: string;
  schemaName: string;
}

/**
 * All changes of attributes go through here: it locks the schema, `edit` changes rows, and the schema's definition and
 * hash are updated in the same transaction. Edits of one schema run one at a time.
 */
export async function editAttributes<T>(
  context: AttributeDependencies,
  trx: Trx,
  { worldAddress, schemaName }: SchemaPath,
  caller: Caller,
  edit: (schema: EntitySchemaRow, now: Date) => Promise<T>,
): Promise<T> {
  const world = await ownWorld(trx, worldAddress, caller, 'counting');
  const schema = await holdSchema(trx, world.id, schemaName, 'editing');
  const now = nowOf(context);
  const edited = await edit(schema, now);
  const definitions = (await attributesOf(trx, [schema.id])).map(toAttributeDefinition);
  if (definitions.length >= schema.attribute_count) refuseOversizedSchema(definitions, context.limits);
  const growth = contentBytes(definitions) - contentBytes(schema.definition);
  await countSchemaBytes(trx, world.id, growth, context.limits.worldSchemaBytes);
  await setDefinition(trx, schema, definitions, now);
  await context.announce(trx, world, {
    subject: 'entity_schema',
    id: schema.id,
    name: schema.name,
    change: 'updated',
  });
  return edited;
}

/** @throws ServiceError `attribute_not_found`. */
export async function requireAttribute(
  db: Db,
  { id, name: schema, definition }: Pick<EntitySchemaRow, 'id' | 'name' | 'definition'>,
  name: string,
): Promise<AttributeRow> {
  const attribute = await findAttribute(db, id, name);
  if (attribute !== undefined) return attribute;
  const known = definition.map((one) => one.name);
  const message = `The entity schema "${schema}" has no attribute "${cutText(name, 255)}".${didYouMean(name, known)}`;
  throw new ServiceError('attribute_not_found', message);
}
