import type { SchemaDefinition, VersionDefinition, WorldTexts } from '@orrery/contracts';
import type { Db } from '../database/db.js';
import type { EntitySchemaRow } from '../database/schema.js';
import { toSchemaDefinition } from '../entity-schemas/schema-rules.js';
import { schemasNamed, usesAllSchemas } from '../versions/stored-version.js';

import { type PlacedVersion, type Schemas, toVersionDefinition, toWorldTexts } from './definition-rules.js';

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
    .where('event_versions.id', 'in', [...ids])
    .execute();
  const live = await liveSchemasFor(db, rows);
  return new Map(
    rows.map((row) => [row.id, toVersionDefinition(row, row.frozen_schemas ?? pick(row, live))]),
  );
}

async function liveSchemasFor(db: Db, rows: PlacedVersion[]): Promise<EntitySchemaRow[]> {
  const drafts = rows.filter(({ locked_at }) => locked_at === null);
  if (drafts.length === 0) return [];
  const worlds = drafts.map(({ world_id }) => world_id);
  const query = db.selectFrom('entity_schemas').selectAll().where('world_id', 'in', worlds).orderBy('id');
  if (drafts.some(({ definition }) => usesAllSchemas(definition))) return query.execute();
  const names = drafts.flatMap(({ definition }) => schemasNamed(definition));
  return names.length === 0 ? [] : query.where('name', 'in', names).execute();
}

function pick({ world_id, definition }: PlacedVersion, live: EntitySchemaRow[]): Schemas {
  const named = new Set(schemasNamed(definition));
  const wanted = live.filter(
    (schema) => schema.world_id === world_id && (usesAllSchemas(definition) || named.has(schema.name)),
  );
  return Object.fromEntries(wanted.map((schema) => [schema.name, toSchemaDefinition(schema)]));
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
  const rows = await db
    .selectFrom('worlds')
    .selectAll()
    .where('id', 'in', [...ids])
    .execute();
  return new Map(rows.map((row) => [row.id, toWorldTexts(row)]));
}
