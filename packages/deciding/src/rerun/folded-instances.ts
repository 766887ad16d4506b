import type { HashedEntry, JsonObject } from '@orrery/contracts';
import { foldChange } from '../entries/entry.js';
import type { InstanceState, InstanceView } from '../execution/execution.js';
import {
  type HistorySearch,
  isRemembered,
  MEMORY_REACH,
  memoryOf,
  type PastEntry,
} from '../execution/read-history.js';

/** An instance that a clone begins with. */
export interface FirstInstance {
  readonly entitySchema: string;
  readonly instanceId: string;
  readonly state: JsonObject;
}

export interface FoldedInstances extends InstanceView {
  /** Takes the changes of the next entry. @throws RangeError for a change that cannot follow */
  follow(entry: HashedEntry): void;
}

/** All instances of a deployment and its last executions, as a journal is followed from its first entry. */
export function foldInstances(first: Iterable<FirstInstance>): FoldedInstances {
  /** In the order of their creation, in which templates see them. */
  const schemas = new Map<string, Map<string, InstanceState>>();
  const ofSchema = (name: string): Map<string, InstanceState> => {
    const known = schemas.get(name);
    if (known !== undefined) return known;
    const made = new Map<string, InstanceState>();
    schemas.set(name, made);
    return made;
  };
  for (const { entitySchema, instanceId, state } of first)
    ofSchema(entitySchema).set(instanceId, { state, revision: 1 });
  const recent = followExecutions();
  return {
    get: (schema, id) => schemas.get(schema)?.get(id) ?? null,
    all: ofSchema,
    tooMany: (schema, most) => ofSchema(schema).size > most,
    isTooLarge: () => false,
    recent,
    follow: (entry) => {
      for (const change of entry.changes) {
        const instances = ofSchema(change.entitySchema);
        const state = foldChange(instances.get(change.instanceId)?.state ?? null, change);
        if (state === null) instances.delete(change.instanceId);
        else instances.set(change.instanceId, { state, revision: change.revision });
      }
      recent.add(entry);
    },
  };
}

/** The last executions, as far back as one may remember. */
function followExecutions() {
  let executions: PastEntry[] = [];
  let last = 0;
  const memories = new WeakMap<PastEntry, JsonObject>();
  const remembered = (entry: PastEntry): JsonObject => {
    const known = memories.get(entry) ?? memoryOf(entry);
    memories.set(entry, known);
    return known;
  };
  return {
    add: (entry: PastEntry): void => {
      last = entry.seq;
      if (entry.kind === 'execution') executions.push(entry);
      if (executions.length > 2 * MEMORY_REACH) executions = executions.slice(-MEMORY_REACH);
    },
    find: (search: HistorySearch): JsonObject[] => {
      const found: JsonObject[] = [];
      for (let at = executions.length - 1; at >= 0 && found.length < search.last; at -= 1) {
        const entry = executions[at];
        if (entry === undefined || entry.seq <= last - MEMORY_REACH) break;
        if (isRemembered(entry, search)) found.push(remembered(entry));
      }
      return found;
    },
  };
}
