import {
  type AttributeDefinition,
  type EntitySchemaRecord,
  type SchemaDefinition,
  ServiceError,
} from '@orrery/contracts';
import { toAttributeRecord } from '../attributes/attribute-rules.js';
import type { CatalogLimits } from '../config.js';
import type { AttributeRow, EntitySchemaRow } from '../database/schema.js';
import { contentBytes, contentHash } from '../hashing/content-hash.js';

/** SHA-256 over the name of a schema and its attributes in order of creation. */
export const schemaHash = (name: string, attributes: AttributeDefinition[]): string =>
  contentHash({ name, attributes });

export const toSchemaRecord = (
  row: EntitySchemaRow,
  attributes: readonly AttributeRow[],
): EntitySchemaRecord => ({
  id: row.id,
  worldId: row.world_id,
  name: row.name,
  description: row.description,
  attributes: attributes.filter(({ schema_id }) => schema_id === row.id).map(toAttributeRecord),
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

export const toSchemaDefinition = (
  row: Pick<EntitySchemaRow, 'id' | 'name' | 'definition' | 'hash'>,
): SchemaDefinition => ({ schemaId: row.id, name: row.name, attributes: row.definition, hash: row.hash });

/** @throws ServiceError `limit_reached` for too many attributes, `validation_failed` for too much JSON in them. */
export function refuseOversizedSchema(attributes: AttributeDefinition[], limits: CatalogLimits): void {
  if (attributes.length > limits.attributesPerSchema)
    throw new ServiceError(
      'limit_reached',
      `An entity schema may have at most ${limits.attributesPerSchema} attributes.`,
    );
  if (contentBytes(attributes) > limits.schemaBytes)
    throw new ServiceError(
      'validation_failed',
      `The attributes of an entity schema may take at most ${limits.schemaBytes} bytes.`,
    );
}
