import type { SchemaDefinition } from '@orrery/contracts';
import { type StoredVersion, schemasNamed, usesAllSchemas } from '../../core/definitions/stored-version.js';
import type { SchemaHashes } from '../../core/definitions/version-hash.js';
import { toSchemaDefinition } from '../schemas/schema-store.js';
import type { Db } from '../tables/db.js';
import type { EntitySchemaRow } from '../tables/schema.js';

/** A version that runs with its schemas as they now are. */
interface Draft {
  readonly world_id: number;
  readonly definition: StoredVersion;
}

type Columns<Column extends keyof EntitySchemaRow> = Pick<EntitySchemaRow, Column | 'world_id' | 'name'>;

/** Loads the live schemas that some drafts run with; the function picks those of one draft. */
export async function liveSchemas<Column extends keyof EntitySchemaRow>(
  db: Db,
  drafts: readonly Draft[],
  columns: readonly Column[],
): Promise<(draft: Draft) => Columns<Column>[]> {
  const names = drafts.flatMap(({ definition }) => schemasNamed(definition));
  const usesAll = drafts.some(({ definition }) => usesAllSchemas(definition));
  if (!usesAll && names.length === 0) return () => [];
  const worlds = drafts.map(({ world_id }) => world_id);
  const query = db
    .selectFrom('entity_schemas')
    .select(['world_id', 'name', ...columns])
    .where('world_id', 'in', worlds)
    .$castTo<Columns<Column>>();
  const rows = await (usesAll ? query : query.where('name', 'in', names)).execute();
  return ({ world_id, definition }) => {
    const named = usesAllSchemas(definition) ? undefined : new Set(schemasNamed(definition));
    return rows.filter((row) => row.world_id === world_id && (named?.has(row.name) ?? true));
  };
}

export const hashesOf = (schemas: readonly Pick<EntitySchemaRow, 'name' | 'hash'>[]): SchemaHashes =>
  Object.fromEntries(schemas.map(({ name, hash }) => [name, hash]));

/** Definitions by name, in order of id. */
export const definitionsOf = (
  schemas: readonly Parameters<typeof toSchemaDefinition>[0][],
): Record<string, SchemaDefinition> =>
  Object.fromEntries(
    schemas.toSorted((a, b) => a.id - b.id).map((schema) => [schema.name, toSchemaDefinition(schema)]),
  );
