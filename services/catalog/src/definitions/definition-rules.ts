import { hash } from 'node:crypto';
import type { SchemaDefinition, VersionDefinition, WorldTexts } from '@orrery/contracts';
import type { VersionRow, WorldRow } from '../database/schema.js';
import { contentHash } from '../hashing/content-hash.js';
import { type SchemaHashes, toDefinition, versionHash } from '../versions/version-rules.js';

/** A version with the name of its event and the id of its world. */
export type PlacedVersion = VersionRow & { event: string; world_id: number };
export type Schemas = Record<string, SchemaDefinition>;

/** All that running a version needs. `schemas` are the frozen copies of a locked version, otherwise the live ones. */
export function toVersionDefinition(row: PlacedVersion, schemas: Schemas): VersionDefinition {
  const hashes = hashesOf(schemas);
  return {
    worldId: row.world_id,
    eventId: row.event_id,
    event: row.event,
    versionId: row.id,
    version: row.version,
    isLocked: row.locked_at !== null,
    versionHash: row.version_hash ?? versionHash(row.definition, hashes),
    ...toDefinition(row.definition),
    schemas,
    hash: definitionHash(row, schemas),
  };
}

const hashesOf = (schemas: Schemas): SchemaHashes =>
  Object.fromEntries(Object.entries(schemas).map(([name, { hash }]) => [name, hash]));

/**
 * The hash of a `VersionDefinition`; CONFIRM_VERSIONS computes the same. A version's id implies its number, event and
 * world, which never change; a schema's hash covers its name and attributes, the version hash of a lock the copies.
 */
function definitionHash(row: PlacedVersion, schemas: Schemas): string {
  const live = Object.values(schemas)
    .sort((a, b) => a.schemaId - b.schemaId)
    .map(({ schemaId, hash }) => `${schemaId}:${hash}`);
  const runsWith = row.locked_at === null ? live.join() : `locked ${row.version_hash}`;
  const facts = [row.id, row.definition_hash, runsWith, row.event];
  return hash('sha256', facts.join('\n'), 'hex');
}

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
