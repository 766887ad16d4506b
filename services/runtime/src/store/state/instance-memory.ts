import type { JsonObject } from '@orrery/contracts';
import type { InstanceState } from '../../core/deciding/execution.js';
import type { CheckedChange } from '../../core/entries/entry.js';
import { createRecentEntries } from './recent-entries.js';

/** An instance as its row will be once the batch in flight is committed. Never changed in place. */
export interface MemoryInstance extends InstanceState {
  readonly id: number;
  readonly state: JsonObject;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

interface SchemaMemory {
  /** null: known to be absent. */
  readonly known: Map<string, MemoryInstance | null>;
  /** Everything that exists is in `known`. */
  complete: boolean;
  /** At least so many exist; a deletion makes this unknown again. */
  atLeast: number;
}

/** What an instance costs beside its JSON, in bytes; a guess on the high side. */
const OVERHEAD = 400;

export type InstanceMemory = ReturnType<typeof createInstanceMemory>;

/** Those instances of one deployment that its owner has in memory. */
export function createInstanceMemory() {
  const schemas = new Map<string, SchemaMemory>();
  const recent = createRecentEntries();
  let bytes = 0;

  const schemaOf = (name: string): SchemaMemory => {
    let schema = schemas.get(name);
    if (schema === undefined) {
      schema = { known: new Map(), complete: false, atLeast: 0 };
      schemas.set(name, schema);
    }
    return schema;
  };
  const put = (schema: SchemaMemory, instanceId: string, instance: MemoryInstance | null) => {
    if (!schema.known.has(instanceId)) bytes += OVERHEAD;
    schema.known.set(instanceId, instance);
  };
  const learn = (schema: SchemaMemory, instanceId: string, found: MemoryInstance | null) => {
    if (schema.known.has(instanceId)) return;
    put(schema, instanceId, found);
    if (found !== null) bytes += roughSize(found.state);
  };

  return {
    /** What executions remember of the journal. */
    recent,
    get: (entitySchema: string, instanceId: string): MemoryInstance | null | undefined => {
      const schema = schemas.get(entitySchema);
      const known = schema?.known.get(instanceId);
      return known === undefined && schema?.complete ? null : known;
    },
    all: (entitySchema: string): ReadonlyMap<string, MemoryInstance> | undefined => {
      const schema = schemas.get(entitySchema);
      return schema?.complete ? present(schema.known) : undefined;
    },
    /** Whether it is known that more than `most` exist. */
    tooMany: (entitySchema: string, most: number): boolean =>
      (schemas.get(entitySchema)?.atLeast ?? 0) > most,
    /** Adds what a read of the database found, `null` for nothing. An instance that is known already is newer and stays. */
    learn: (entitySchema: string, instanceId: string, found: MemoryInstance | null): void =>
      learn(schemaOf(entitySchema), instanceId, found),
    /** Adds all instances of a schema that a read of `most` and one more found; `isCut`: it has left out some for their size. */
    learnAll: (
      entitySchema: string,
      found: ReadonlyMap<string, MemoryInstance>,
      most: number,
      isCut = false,
    ): void => {
      const schema = schemaOf(entitySchema);
      for (const [instanceId, instance] of found) learn(schema, instanceId, instance);
      if (isCut) schema.atLeast = most + 1;
      else if (found.size <= most) schema.complete = true;
      // The read may have found instances that have been deleted since.
      else schema.atLeast = present(schema.known).size;
    },
    /** Applies a checked change; `id` is that of a created instance. */
    apply: (change: CheckedChange, at: Date, id: number | undefined): void => {
      const schema = schemaOf(change.entitySchema);
      const before = schema.known.get(change.instanceId) ?? null;
      const after = changed(before, change, at, id);
      const grownBy = roughSize(change.set) - replacedSize(before?.state ?? {}, change);
      if (change.op === 'delete') schema.atLeast = 0;
      bytes += grownBy;
      put(schema, change.instanceId, after);
    },
    /** Schemas that are known to have an instance of this key. */
    schemasWith: (instanceId: string): string[] =>
      [...schemas].filter(([, { known }]) => known.get(instanceId)).map(([entitySchema]) => entitySchema),
    /** Whether an instance of the schema is known to exist. */
    hasAny: (entitySchema: string): boolean =>
      [...(schemas.get(entitySchema)?.known.values() ?? [])].some((one) => one !== null),
    /** Roughly how many bytes it holds. */
    bytes: (): number => bytes + recent.bytes(),
  };
}

/** Bytes that a change frees: all of a deleted state, else the replaced values. */
function replacedSize(state: JsonObject, { op, set, unset }: CheckedChange): number {
  if (op === 'delete') return roughSize(state);
  const replaced: JsonObject = {};
  for (const name of [...Object.keys(set), ...unset])
    if (Object.hasOwn(state, name)) replaced[name] = state[name] ?? null;
  return roughSize(replaced);
}

function changed(
  before: MemoryInstance | null,
  { state, revision }: CheckedChange,
  at: Date,
  id: number | undefined,
): MemoryInstance | null {
  if (state === null) return null;
  if (before !== null && id === undefined) {
    return { id: before.id, state, revision, createdAt: before.createdAt, updatedAt: at };
  }
  if (id === undefined) throw new Error('an instance was created without an id');
  return { id, state, revision, createdAt: at, updatedAt: at };
}

/** In the order of their creation, whatever was in memory first: templates see it. */
function present(known: ReadonlyMap<string, MemoryInstance | null>): Map<string, MemoryInstance> {
  const found: [string, MemoryInstance][] = [];
  let isSorted = true;
  for (const [instanceId, instance] of known) {
    if (instance === null) continue;
    isSorted &&= (found.at(-1)?.[1].id ?? -Infinity) <= instance.id;
    found.push([instanceId, instance]);
  }
  return new Map(isSorted ? found : found.sort(([, one], [, other]) => one.id - other.id));
}

/** Roughly how many bytes a state takes. It is cheap: texts and lists count by length, other values at a flat rate. */
export function roughSize(state: JsonObject): number {
  let size = 0;
  for (const value of Object.values(state)) {
    size += 40 + (typeof value === 'string' ? 2 * value.length : 0);
    if (typeof value === 'object' && value !== null) size += 2 * JSON.stringify(value).length;
  }
  return size;
}
