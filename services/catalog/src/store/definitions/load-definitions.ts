import { hash } from 'node:crypto';
import type { SchemaDefinition, VersionDefinition, WorldTexts } from '@orrery/contracts';
import { contentHash } from '../../core/definitions/content-hash.js';
import { toDefinition, versionHash } from '../../core/definitions/version-hash.js';
import { definitionsOf, hashesOf, liveSchemas } from '../events/live-schemas.js';
import { toSchemaDefinition } from '../schemas/schema-store.js';
import type { Db } from '../tables/db.js';
import type { VersionRow, WorldRow } from '../tables/schema.js';

/** The definitions of the versions that exist, in the given order. */
export async function loadVersionDefinitions(db: Db, ids: readonly number[]): Promise<VersionDefinition[]> {
  const found = await findVersionDefinitions(db, ids);
  return ids.flatMap((id) => found.get(id) ?? []);
}

/** Definitions by version id; versions that are gone are left out. */
export async function findVersionDefinitions(
  db: Db,
  ids: readonly number[],
): Promise<Map<number, VersionDefinition>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('event_versions')
    .innerJoin('events', 'events.id', 'event_versions.event_id')
    .selectAll('event_versions')
    .select(['events.name as event', 'events.world_id'])
    .where('event_versions.id', 'in', ids)
    .execute();
  const drafts = rows.filter(({ locked_at }) => locked_at === null);
  const liveOf = await liveSchemas(db, drafts, ['id', 'name', 'definition', 'hash']);
  return new Map(
    rows.map((row) => [row.id, toVersionDefinition(row, row.frozen_schemas ?? definitionsOf(liveOf(row)))]),
  );
}

/** A version that is not saved, as it would run. It has no ids. */
export async function draftDefinition(
  db: Db,
  {
    world_id,
    event,
    version,
    definition,
  }: Pick<VersionInWorld, 'world_id' | 'event' | 'version' | 'definition'>,
): Promise<VersionDefinition> {
  const liveOf = await liveSchemas(db, [{ world_id, definition }], ['id', 'name', 'definition', 'hash']);
  const schemas = definitionsOf(liveOf({ world_id, definition }));
  const unsaved = { id: 0, event_id: 0, locked_at: null, version_hash: null, definition_hash: '' };
  return toVersionDefinition({ ...unsaved, world_id, event, version, definition }, schemas);
}

type Schemas = Record<string, SchemaDefinition>;
type VersionInWorld = Pick<
  VersionRow,
  'id' | 'event_id' | 'version' | 'definition' | 'definition_hash' | 'locked_at' | 'version_hash'
> & { event: string; world_id: number };

/** All that running a version needs. `schemas` are the frozen copies of a locked version, otherwise the live ones. */
const toVersionDefinition = (row: VersionInWorld, schemas: Schemas): VersionDefinition => ({
  worldId: row.world_id,
  eventId: row.event_id,
  event: row.event,
  versionId: row.id,
  version: row.version,
  isLocked: row.locked_at !== null,
  versionHash: row.version_hash ?? versionHash(row.definition, hashesOf(Object.values(schemas))),
  ...toDefinition(row.definition),
  schemas,
  hash: definitionHash(row, schemas),
});

/**
 * The hash of a `VersionDefinition`; CONFIRM_VERSIONS computes the same. A version's id implies its number, event and
 * world, which never change; a schema's hash covers its name and attributes, the version hash of a lock the copies.
 */
function definitionHash(row: VersionInWorld, schemas: Schemas): string {
  const live = Object.values(schemas)
    .sort((a, b) => a.schemaId - b.schemaId)
    .map(({ schemaId, hash }) => `${schemaId}:${hash}`);
  const runsWith = row.locked_at === null ? live.join() : `locked ${row.version_hash}`;
  const facts = [row.id, row.definition_hash, runsWith, row.event];
  return hash('sha256', facts.join('\n'), 'hex');
}

interface SchemaName {
  worldId: number;
  name: string;
}

/** Loads the live schemas that are named (at least one). The function returned gives `undefined` for one that is gone. */
export async function findSchemaDefinitions(
  db: Db,
  names: readonly SchemaName[],
): Promise<(schema: SchemaName) => SchemaDefinition | undefined> {
  const rows = await db
    .selectFrom('entity_schemas')
    .select(['id', 'world_id', 'name', 'definition', 'hash'])
    .where(({ eb, refTuple, tuple }) =>
      eb(
        refTuple('world_id', 'name'),
        'in',
        names.map(({ worldId, name }) => tuple(worldId, name)),
      ),
    )
    .execute();
  return ({ worldId, name }) => {
    const row = rows.find((schema) => schema.world_id === worldId && schema.name === name);
    return row && toSchemaDefinition(row);
  };
}

/** Texts by world id, of at least one world; worlds that are gone are left out. */
export async function findWorldTexts(db: Db, ids: readonly number[]): Promise<Map<number, WorldTexts>> {
  const rows = await db.selectFrom('worlds').selectAll().where('id', 'in', ids).execute();
  return new Map(rows.map((row) => [row.id, toWorldTexts(row)]));
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
