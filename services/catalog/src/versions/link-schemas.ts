import { childPointer, type FieldProblem, fieldProblem, ServiceError } from '@orrery/contracts';
import type { CatalogTransaction } from '../context.js';
import { holdNamed } from './hold-schemas.js';
import type { StoredVersion } from './stored-version.js';

/**
 * Links a version to the schemas that it names, so that they stay.
 *
 * @throws ServiceError `unknown_entity_schema` with a pointer for each name that is no schema of the world.
 */
export async function linkNamedSchemas(
  trx: CatalogTransaction,
  worldId: number,
  version: StoredVersion,
  pointers: VersionPointers,
): Promise<(versionId: number) => Promise<void>> {
  const schemas = await holdNamed(trx, worldId, version);
  const known = new Set(schemas.map(({ name }) => name));
  const errors = namesWithPlaces(version, pointers).filter(({ name }) => !known.has(name));
  if (errors.length > 0) throw unknownSchemas(errors);
  return (versionId) =>
    replaceLinks(
      trx,
      versionId,
      schemas.map(({ id }) => id),
    );
}

/** Where a version's fields stand in the request. */
export interface VersionPointers {
  readonly root: string;
  /** `stateChanges` or `stateChangeSchema`, as it was spelled. */
  readonly stateChanges: string;
}

interface NamedPlace {
  name: string;
  pointer: string;
}

const namesWithPlaces = (
  { readEntities, stateChanges }: StoredVersion,
  { root, stateChanges: spelling }: VersionPointers,
): NamedPlace[] => [
  ...readEntities.map(({ schema }, index) => ({
    name: schema,
    pointer: `${root}/readEntities/${index}/schema`,
  })),
  ...Object.keys(stateChanges ?? {}).map((name) => ({
    name,
    pointer: childPointer(`${root}/${spelling}`, name),
  })),
];

function unknownSchemas(places: NamedPlace[]): ServiceError {
  const errors: FieldProblem[] = places
    .slice(0, 20)
    .map(({ name, pointer }) =>
      fieldProblem(
        pointer,
        'unknown_entity_schema',
        `the world has no entity schema "${name.slice(0, 255)}"`,
      ),
    );
  return new ServiceError('unknown_entity_schema', errors[0]?.message, { errors });
}

async function replaceLinks(trx: CatalogTransaction, versionId: number, schemaIds: number[]): Promise<void> {
  await trx.deleteFrom('version_schemas').where('version_id', '=', versionId).execute();
  await addLinks(trx, versionId, schemaIds);
}

export async function addLinks(
  trx: CatalogTransaction,
  versionId: number,
  schemaIds: readonly number[],
): Promise<void> {
  if (schemaIds.length === 0) return;
  await trx
    .insertInto('version_schemas')
    .values(schemaIds.map((schemaId) => ({ version_id: versionId, schema_id: schemaId })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
