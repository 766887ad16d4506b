import { childPointer, type FieldProblem, fieldProblem, MAX_PROBLEMS } from '@orrery/contracts';
import { changesIn, findUnfitLiterals } from '@orrery/expressions';
import type { Db, Trx } from '../database/db.js';
import type { EntitySchemaRow } from '../database/schema.js';
import { noSuchSchema, schemaNames } from '../entity-schemas/schema-names.js';
import { below, TEMPLATE } from './problem-places.js';
import type { ProblemKind } from './refuse-problems.js';
import { type StoredVersion, schemasInTemplate, schemasNamed, usesAllSchemas } from './stored-version.js';
import type { SchemaHashes } from './version-rules.js';
import type { NamedSchemas } from './version-warnings.js';

/** Locks the schemas that a version runs with against deletion and renaming, in order of id. */
export async function holdSchemasOf(
  trx: Trx,
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
  return holdNamed(trx, worldId, schemasNamed(version));
}

/** Locks those of the named schemas that exist. */
async function holdNamed(trx: Trx, worldId: number, names: readonly string[]): Promise<EntitySchemaRow[]> {
  if (names.length === 0) return [];
  return trx
    .selectFrom('entity_schemas')
    .selectAll()
    .where('world_id', '=', worldId)
    .where('name', 'in', [...names])
    .orderBy('id')
    .forKeyShare()
    .execute();
}

/**
 * Links a version to the schemas that it names, which then cannot be deleted. Those in the keys of its template must exist
 * too. They are locked as well, so a deletion that waits sees the template, and are not linked: docs/catalog.md says what
 * the hashes of a version cover.
 * `problems`: what the version says and the schemas do not allow; with one it must not be saved.
 */
export async function linkNamedSchemas(
  trx: Trx,
  worldId: number,
  version: StoredVersion,
  spelling: ModeMapSpelling,
): Promise<LinkedSchemas> {
  const named = schemasNamed(version);
  const schemas = await holdNamed(trx, worldId, [...named, ...schemasInTemplate(version)]);
  const unknown = unknownNames(version, spelling, schemas);
  const known = unknown.length === 0 ? [] : await schemaNames(trx, worldId);
  const problems = schemaProblems(version, unknown, known, schemas);
  const ids = schemas.filter(({ name }) => named.includes(name)).map(({ id }) => id);
  return { schemas, problems, link: (versionId) => replaceLinks(trx, versionId, ids) };
}

export interface LinkedSchemas {
  /** All that the version names, those in its template included. */
  readonly schemas: readonly EntitySchemaRow[];
  readonly problems: readonly ProblemKind[];
  readonly link: (versionId: number) => Promise<void>;
}

/** How the request spells the map of changes. */
export type ModeMapSpelling = 'stateChanges' | 'stateChangeSchema';

interface NamedPointer {
  name: string;
  pointer: string;
}

const namesWithPointers = (
  { readEntities, stateChanges, mutationSettings }: StoredVersion,
  spelling: ModeMapSpelling,
): NamedPointer[] => [
  ...readEntities.map(({ schema }, index) => ({
    name: schema,
    pointer: `/readEntities/${index}/schema`,
  })),
  ...Object.keys(stateChanges ?? {}).map((name) => ({
    name,
    pointer: childPointer(`/${spelling}`, name),
  })),
  ...changesIn(mutationSettings?.template ?? {}).flatMap(({ schema, pointer }) =>
    schema === undefined ? [] : [{ name: schema, pointer: `${TEMPLATE}${pointer}` }],
  ),
];

type Named = readonly { readonly name: string }[];

function unknownNames(version: StoredVersion, spelling: ModeMapSpelling, known: Named): NamedPointer[] {
  const names = new Set(known.map(({ name }) => name));
  return namesWithPointers(version, spelling).filter(({ name }) => !names.has(name));
}

/** What a version says and the schemas do not allow, where they are all that there are. */
export function problemsWithSchemas(
  version: StoredVersion,
  spelling: ModeMapSpelling,
  all: NamedSchemas,
): ProblemKind[] {
  const names = all.map(({ name }) => name);
  return schemaProblems(version, unknownNames(version, spelling, all), names, all);
}

const schemaProblems = (
  version: StoredVersion,
  unknown: readonly NamedPointer[],
  known: readonly string[],
  schemas: NamedSchemas,
): ProblemKind[] => [
  {
    code: 'unknown_entity_schema',
    problems: unknown
      .slice(0, MAX_PROBLEMS)
      .map(({ name, pointer }) => fieldProblem(pointer, 'unknown_entity_schema', noSuchSchema(name, known))),
  },
  { code: 'invalid_template', problems: unfitLiterals(version, schemas) },
];

/** Values of a template that runs which their attributes refuse in every execution. */
function unfitLiterals({ mutationSettings }: StoredVersion, schemas: NamedSchemas): FieldProblem[] {
  if (mutationSettings?.mode !== 'direct' || mutationSettings.template === undefined) return [];
  const attributes = new Map(schemas.map(({ name, definition }) => [name, definition]));
  return below(TEMPLATE, findUnfitLiterals(mutationSettings.template, attributes));
}

async function replaceLinks(trx: Trx, versionId: number, schemaIds: number[]): Promise<void> {
  await trx.deleteFrom('version_schemas').where('version_id', '=', versionId).execute();
  await addLinks(trx, versionId, schemaIds);
}

export async function addLinks(trx: Trx, versionId: number, schemaIds: readonly number[]): Promise<void> {
  if (schemaIds.length === 0) return;
  await trx
    .insertInto('version_schemas')
    .values(schemaIds.map((schemaId) => ({ version_id: versionId, schema_id: schemaId })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Loads the hashes of the live schemas that some drafts of one world run with; the function picks those of one draft. */
export async function liveHashes(
  db: Db,
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
  db: Db,
  worldId: number,
  drafts: readonly StoredVersion[],
): Promise<Pick<EntitySchemaRow, 'name' | 'hash'>[]> {
  const query = db.selectFrom('entity_schemas').select(['name', 'hash']).where('world_id', '=', worldId);
  if (drafts.some(usesAllSchemas)) return query.execute();
  const names = drafts.flatMap(schemasNamed);
  return names.length === 0 ? [] : query.where('name', 'in', names).execute();
}
