import type { JsonObject } from '@orrery/contracts';
import {
  type CheckedChange,
  type HistorySearch,
  type InstanceState,
  isRemembered,
  MAX_SEARCHED_BYTES,
  MEMORY_REACH,
  memoryOf,
  type PastEntry,
} from '@orrery/deciding';

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
  /** By how many bytes it was, roughly, too large to be brought into memory; 0: not as far as is known. */
  tooLargeBy: number;
  /** Bytes of the JSON of all that exists, roughly, where it is complete. */
  jsonBytes: number;
}

/** What an instance costs beside its JSON, in bytes; a guess on the high side. */
const OVERHEAD = 400;

export type InstanceMemory = ReturnType<typeof createInstanceMemory>;

/** Those instances of one deployment that its owner has in memory, and what executions remember of its journal. */
export function createInstanceMemory() {
  const schemas = new Map<string, SchemaMemory>();
  const recent = createRecentEntries();
  let bytes = 0;
  let isDropped = false;

  const schemaOf = (name: string): SchemaMemory => {
    let schema = schemas.get(name);
    if (schema === undefined) {
      schema = { known: new Map(), complete: false, atLeast: 0, tooLargeBy: 0, jsonBytes: 0 };
      schemas.set(name, schema);
    }
    return schema;
  };
  const put = (schema: SchemaMemory, instanceId: string, instance: MemoryInstance | null) => {
    if (!schema.known.has(instanceId)) bytes += OVERHEAD;
    schema.known.set(instanceId, instance);
  };
  const learn = (schema: SchemaMemory, instanceId: string, found: MemoryInstance | null) => {
    if (isDropped || schema.known.has(instanceId)) return;
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
    /**
     * Whether these schemas are too large to be in memory for one execution: together, or one that was read, unless changes
     * since have made it smaller enough.
     */
    isTooLarge: (entitySchemas: readonly string[]): boolean => {
      let left = MAX_SEARCHED_BYTES;
      for (const name of entitySchemas) {
        const schema = schemas.get(name);
        if (schema !== undefined && schema.tooLargeBy > 0) return true;
        if (schema?.complete) left -= schema.jsonBytes;
      }
      return left < 0;
    },
    /** Adds what a read of the database found, `null` for nothing. An instance that is known already is newer and stays. */
    learn: (entitySchema: string, instanceId: string, found: MemoryInstance | null): void =>
      learn(schemaOf(entitySchema), instanceId, found),
    /**
     * Adds all instances of a schema that a read of `most` and one more found; `tooLargeBy`: bytes of those that it left out,
     * `jsonBytes`: of the others.
     */
    learnAll: (
      entitySchema: string,
      found: ReadonlyMap<string, MemoryInstance>,
      most: number,
      tooLargeBy = 0,
      jsonBytes = 0,
    ): void => {
      if (isDropped) return;
      const schema = schemaOf(entitySchema);
      schema.tooLargeBy = tooLargeBy;
      schema.jsonBytes = jsonBytes;
      if (tooLargeBy > 0) return;
      for (const [instanceId, instance] of found) learn(schema, instanceId, instance);
      if (found.size <= most) schema.complete = true;
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
      if (schema.tooLargeBy > 0) schema.tooLargeBy = Math.max(0, schema.tooLargeBy + grownBy);
      // Two bytes a character (`roughSize`).
      schema.jsonBytes = Math.max(0, schema.jsonBytes + grownBy / 2);
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
    /** Nothing is decided against it any more: who still refers to it keeps nothing alive, and adds nothing. */
    drop: (): void => {
      isDropped = true;
      schemas.clear();
      bytes = 0;
    },
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

/** An entry with the form in which executions remember it, which is made once. */
interface Remembered {
  readonly entry: PastEntry;
  readonly memory: JsonObject;
}

/** What a search found, newest first, up to an entry of the journal. */
interface Found {
  readonly upTo: number;
  readonly entries: readonly Remembered[];
}

/** Entries since the memory began; older ones have been taken into what was found. */
const MAX_TAIL = 256;
/** Searches whose results are remembered, those used last. */
const MAX_SEARCHES = 20;
/** Bytes of one of these, roughly: 50 entries of a few KiB. */
const SEARCH_BYTES = 64 * 1024;

/**
 * What executions of one deployment remember of its journal, exactly as it stands before each of them: what was read from
 * the database, and the entries since, committed or not. It costs nothing until an execution of the deployment reads history.
 */
export function createRecentEntries() {
  /** `undefined` until history is read; then all entries after `from`, in order. */
  let tail: Remembered[] | undefined;
  let from = 0;
  const found = new Map<string, Found>();
  const keyOf = (search: HistorySearch): string => JSON.stringify(search);

  const put = (key: string, value: Found) => {
    found.delete(key);
    found.set(key, value);
    const [oldest] = found.keys();
    if (found.size > MAX_SEARCHES && oldest !== undefined) found.delete(oldest);
  };
  /** Forgets the first half of a long tail, and what was found before it: that is read again. */
  const shorten = (entries: Remembered[]) => {
    const dropped = entries.splice(0, entries.length / 2);
    from = dropped.at(-1)?.entry.seq ?? from;
    for (const [key, { upTo }] of found) if (upTo < from) found.delete(key);
  };
  return {
    /** From now on entries are kept; `seq`: the last one so far. */
    start: (seq: number): void => {
      if (tail !== undefined) return;
      tail = [];
      from = seq;
    },
    /** The journal got an entry. */
    add: (entry: PastEntry): void => {
      if (tail === undefined) return;
      tail.push({ entry, memory: entry.kind === 'execution' ? memoryOf(entry) : {} });
      if (tail.length > MAX_TAIL) shorten(tail);
    },
    /** What a read of the database found, up to its last committed entry. One that lacks entries before the tail is not used. */
    learn: (search: HistorySearch, upTo: number, entries: readonly PastEntry[]): void => {
      if (tail === undefined || upTo < from) return;
      put(keyOf(search), { upTo, entries: entries.map((entry) => ({ entry, memory: memoryOf(entry) })) });
    },
    /** What the search finds now, newest first; `undefined` unless memory is known to hold it. */
    find: (search: HistorySearch): JsonObject[] | undefined => {
      const key = keyOf(search);
      const before = found.get(key);
      if (tail === undefined || before === undefined) return undefined;
      if (search.replays !== undefined)
        return hasExecutionAfter(tail, before.upTo) ? undefined : before.entries.map(({ memory }) => memory);
      const last = tail.at(-1)?.entry.seq ?? from;
      const upTo = Math.max(before.upTo, last);
      const since = tail.filter(({ entry }) => entry.seq > before.upTo && isRemembered(entry, search));
      const entries = [...since.reverse(), ...before.entries]
        .filter(({ entry }) => entry.seq > upTo - MEMORY_REACH)
        .slice(0, search.last);
      put(key, { upTo, entries });
      return entries.map(({ memory }) => memory);
    },
    /** Roughly how many bytes it holds. */
    bytes: (): number => (tail === undefined ? 0 : (found.size + 1) * SEARCH_BYTES),
  };
}

/** Which of what was recorded a replay stands in place of is read from the database: what is not committed waits. */
const hasExecutionAfter = (tail: readonly Remembered[], seq: number): boolean =>
  tail.some(({ entry }) => entry.seq > seq && entry.kind === 'execution');
