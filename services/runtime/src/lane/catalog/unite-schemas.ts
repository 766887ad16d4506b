import type {
  catalogContract,
  ReplyOf,
  SchemaDefinition,
  SharingVersion,
  VersionDefinition,
} from '@orrery/contracts';
import { LRUCache } from 'lru-cache';

type Reply = ReplyOf<(typeof catalogContract.rpcs)['definitions.confirm']>;
type VersionAnswer = Reply['versions'][number];

/** A reply whose versions have their schemas. */
export interface UnitedReply extends Pick<Reply, 'schemas' | 'worlds'> {
  readonly versions: Exclude<VersionAnswer, { state: 'shared' }>[];
}

/** Schemas that are found again; what no version holds any more is not kept in memory for it. */
const MAX_FOUND = 50_000;

/**
 * Gives the versions of a reply their schemas. All versions that are read hold one object for one schema: the schemas of a
 * world may have megabytes. A catalog of the previous release answers whole versions.
 */
export function createUnite() {
  const known = new LRUCache<string, WeakRef<SchemaDefinition>>({ max: MAX_FOUND });
  const oneOf = (schema: SchemaDefinition): SchemaDefinition => {
    const key = `${schema.schemaId} ${schema.hash}`;
    const before = known.get(key)?.deref();
    if (before === undefined) known.set(key, new WeakRef(schema));
    return before ?? schema;
  };
  return ({ versions, schemas, worlds, sharedSchemas = [] }: Reply): UnitedReply => {
    const shared = sharedSchemas.map(oneOf);
    const united = versions.map((answer) =>
      answer.state === 'shared'
        ? { state: 'changed' as const, definition: whole(answer.definition, shared) }
        : answer,
    );
    return { versions: united, schemas, worlds };
  };
}

function whole(version: SharingVersion, shared: readonly SchemaDefinition[]): VersionDefinition {
  const named = version.schemas.map((place): [string, SchemaDefinition] => {
    const schema = shared[place];
    if (schema === undefined) throw new Error('a version names a schema that its reply does not have');
    return [schema.name, schema];
  });
  return { ...version, schemas: Object.fromEntries(named) };
}
