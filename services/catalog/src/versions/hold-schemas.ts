import type { CatalogTransaction } from '../context.js';
import type { EntitySchemaRow } from '../database/schema.js';
import { type StoredVersion, schemasNamed, usesAllSchemas } from './stored-version.js';

/** The rows of the schemas that a version runs with; held against deletion and renaming, lowest id first. */
export async function holdSchemasOf(
  trx: CatalogTransaction,
  worldId: number,
  version: StoredVersion,
): Promise<EntitySchemaRow[]> {
  const all = trx
    .selectFrom('entity_schemas')
    .selectAll()
    .where('world_id', '=', worldId)
    .orderBy('id')
    .forKeyShare();
  if (usesAllSchemas(version)) return all.execute();
  return holdNamed(trx, worldId, version);
}

/** Those that it names and that there are. */
export async function holdNamed(
  trx: CatalogTransaction,
  worldId: number,
  version: StoredVersion,
): Promise<EntitySchemaRow[]> {
  const names = schemasNamed(version);
  if (names.length === 0) return [];
  return trx
    .selectFrom('entity_schemas')
    .selectAll()
    .where('world_id', '=', worldId)
    .where('name', 'in', names)
    .orderBy('id')
    .forKeyShare()
    .execute();
}
