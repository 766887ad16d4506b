import type { SchemaDefinition, VersionDefinition, WorldTexts } from '@orrery/contracts';
import type { VersionRow, WorldRow } from '../database/schema.js';
import { contentHash } from '../hashing/content-hash.js';
import { type SchemaHashes, toDefinition, versionHash } from '../versions/version-rules.js';

/** A version with the names around it. */
export type PlacedVersion = VersionRow & { event: string; world_id: number };
export type Schemas = Record<string, SchemaDefinition>;

/** All that running a version takes. `schemas` are the copies in a locked one, else the live ones. */
export function toVersionDefinition(row: PlacedVersion, schemas: Schemas): VersionDefinition {
  const hashes = hashesOf(schemas);
  const definition = {
    worldId: row.world_id,
    eventId: row.event_id,
    event: row.event,
    versionId: row.id,
    version: row.version,
    isLocked: row.locked_at !== null,
    versionHash: row.version_hash ?? versionHash(row.definition, hashes),
    ...toDefinition(row.definition),
  };
  return { ...definition, schemas, hash: definitionHash(definition, schemas) };
}

const hashesOf = (schemas: Schemas): SchemaHashes =>
  Object.fromEntries(Object.entries(schemas).map(([name, { hash }]) => [name, hash]));

/** Covers the schemas by their ids and hashes, which cover their names and attributes. */
const definitionHash = (definition: object, schemas: Schemas): string =>
  contentHash({
    ...definition,
    schemas: Object.fromEntries(
      Object.entries(schemas).map(([name, { schemaId, hash }]) => [name, { schemaId, hash }]),
    ),
  });

export function toWorldTexts(
  row: Pick<WorldRow, 'name' | 'description' | 'domain_tags' | 'prompt_seed'>,
): WorldTexts {
  const texts = {
    name: row.name,
    description: row.description,
    domainTags: row.domain_tags,
    promptSeed: row.prompt_seed,
  };
  return { ...texts, hash: contentHash(texts) };
}
