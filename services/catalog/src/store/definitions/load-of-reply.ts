import type { SchemaDefinition, SharingVersion, VersionDefinition } from '@orrery/contracts';

/**
 * Bytes of definitions in a reply, beyond the first one. The bus carries 32 MiB, and the largest definition that an
 * operator can allow has about 17 MiB.
 */
const MOST_BYTES = 8 * 1024 * 1024;

/** Bytes of definitions that are read for a reply: those of locked versions hold copies of schemas, which are carried once. */
const MOST_READ = 64 * 1024 * 1024;

export const LATER = { state: 'later' as const };

const bytesOf = (content: object): number => Buffer.byteLength(JSON.stringify(content));

/** A schema that changes has another hash. */
const keyOf = ({ schemaId, hash }: SchemaDefinition): string => `${schemaId} ${hash}`;

export type Load = ReturnType<typeof startLoad>;

/**
 * The definitions that one reply carries. For a caller that reads them so, each schema is in it once, and what has no room
 * is left for the next call: versions of one world would else repeat its schemas, and strangers share a reply.
 */
export function startLoad(isSharing: boolean) {
  const schemas: SchemaDefinition[] = [];
  const places = new Map<string, number>();
  const sizes: number[] = [];
  let bytes = 0;
  let read = 0;
  let isFull = false;
  /** The first one is always taken, so that every call gets further. */
  const take = (more: number): boolean => {
    isFull ||= bytes > 0 && bytes + more > MOST_BYTES;
    if (!isFull) bytes += more;
    return !isFull;
  };
  const other = <T extends object>(definition: T) => {
    const hasRoom = !isSharing || (!isFull && take(bytesOf(definition)));
    return hasRoom ? { state: 'changed' as const, definition } : LATER;
  };
  const shared = (version: VersionDefinition) => {
    if (isFull) return LATER;
    const named = Object.values(version.schemas);
    const added = named.filter((schema) => !places.has(keyOf(schema)));
    const longest = named.map(() => schemas.length + named.length);
    const size = bytesOf({ ...version, schemas: longest }) + bytesOf(added);
    if (!take(size)) return LATER;
    for (const schema of added) {
      sizes.push(bytesOf(schema));
      places.set(keyOf(schema), schemas.push(schema) - 1);
    }
    for (const schema of named) read += sizes[places.get(keyOf(schema)) ?? 0] ?? 0;
    isFull = read > MOST_READ;
    const definition: SharingVersion = {
      ...version,
      schemas: named.map((schema) => places.get(keyOf(schema)) ?? 0),
    };
    return { state: 'shared' as const, definition };
  };
  return {
    schemas,
    get isFull() {
      return isFull;
    },
    version: (version: VersionDefinition) => (isSharing ? shared(version) : other(version)),
    /** A schema on its own, or the texts of a world. */
    other,
  };
}
