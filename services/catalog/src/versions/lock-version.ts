import { type CatalogContext, type CatalogTransaction, nowOf } from '../context.js';
import { json } from '../database/json.js';
import type { VersionRow } from '../database/schema.js';
import { toSchemaDefinition } from '../entity-schemas/schema-rules.js';
import { holdSchemasOf } from './hold-schemas.js';
import { addLinks } from './link-schemas.js';
import { versionHash } from './version-rules.js';

/**
 * Locks a version that is held `editing`, for ever: copies of its schemas go into it and its hash is fixed. A locked
 * one is returned as it is.
 */
export async function lockVersion(
  context: CatalogContext,
  trx: CatalogTransaction,
  worldId: number,
  version: VersionRow,
): Promise<VersionRow> {
  if (version.locked_at !== null) return version;
  const schemas = await holdSchemasOf(trx, worldId, version.definition);
  const copies = Object.fromEntries(schemas.map((schema) => [schema.name, toSchemaDefinition(schema)]));
  const hashes = Object.fromEntries(schemas.map(({ name, hash }) => [name, hash]));
  const now = nowOf(context);
  await addLinks(
    trx,
    version.id,
    schemas.map(({ id }) => id),
  );
  return trx
    .updateTable('event_versions')
    .set({
      locked_at: now,
      frozen_schemas: json(copies),
      version_hash: versionHash(version.definition, hashes),
      updated_at: now,
    })
    .where('id', '=', version.id)
    .where('locked_at', 'is', null)
    .returningAll()
    .executeTakeFirstOrThrow();
}
