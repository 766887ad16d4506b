import type { Clock } from '@orrery/service-kit';
import { json, nowOf, type Trx } from '../database/db.js';
import type { VersionRow } from '../database/schema.js';
import { toSchemaDefinition } from '../entity-schemas/schema-rules.js';
import { versionHash } from './version-rules.js';
import { addLinks, holdSchemasOf } from './version-schemas.js';

/**
 * Locks a version that is held `editing`, for ever: it gets copies of its schemas, and its hash is fixed. A locked version
 * is returned unchanged.
 */
export async function lockVersion(
  { clock }: { readonly clock: Clock },
  trx: Trx,
  worldId: number,
  version: VersionRow,
): Promise<VersionRow> {
  if (version.locked_at !== null) return version;
  const schemas = await holdSchemasOf(trx, worldId, version.definition);
  const copies = Object.fromEntries(schemas.map((schema) => [schema.name, toSchemaDefinition(schema)]));
  const hashes = Object.fromEntries(schemas.map(({ name, hash }) => [name, hash]));
  const now = nowOf({ clock });
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
