import type { CatalogDatabase } from '../context.js';
import type { EntitySchemaRow } from '../database/schema.js';
import { type StoredVersion, schemasNamed, usesAllSchemas } from './stored-version.js';
import type { SchemaHashes } from './version-rules.js';

/** Hashes of the live schemas that some drafts of one world run with: ask once, then pick for each. */
export async function liveHashes(
  db: CatalogDatabase,
  worldId: number,
  drafts: readonly StoredVersion[],
): Promise<(version: StoredVersion) => SchemaHashes> {
  const rows = await liveSchemas(db, worldId, drafts);
  const hashes = new Map(rows.map(({ name, hash }) => [name, hash]));
  return (version) => {
    const names = usesAllSchemas(version) ? [...hashes.keys()] : schemasNamed(version);
    return Object.fromEntries(names.map((name) => [name, hashes.get(name) ?? '']));
  };
}

async function liveSchemas(
  db: CatalogDatabase,
  worldId: number,
  drafts: readonly StoredVersion[],
): Promise<Pick<EntitySchemaRow, 'name' | 'hash'>[]> {
  const query = db.selectFrom('entity_schemas').select(['name', 'hash']).where('world_id', '=', worldId);
  if (drafts.some(usesAllSchemas)) return query.execute();
  const names = drafts.flatMap(schemasNamed);
  return names.length === 0 ? [] : query.where('name', 'in', names).execute();
}
