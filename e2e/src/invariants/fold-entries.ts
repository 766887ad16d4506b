import type { InstanceChange, JsonObject } from '@orrery/contracts';
import type { StoredEntry, StoredState } from './stored-rows.js';

/** `schema:instanceId` → what it is. */
export type States = Map<string, { state: JsonObject; revision: number }>;

/** Folds all changes in order of `seq`, as the documentation tells it; `problems` name what cannot be. */
export function foldEntries(
  before: readonly StoredState[],
  entries: readonly StoredEntry[],
): { states: States; problems: string[] } {
  const states: States = new Map(before.map((row) => [`${row.entitySchema}:${row.instanceId}`, row]));
  const problems: string[] = [];
  for (const { seq, changes } of entries) {
    for (const change of changes) {
      const problem = apply(states, change);
      if (problem !== undefined) problems.push(`entry ${seq}: ${problem}`);
    }
  }
  return { states, problems };
}

function apply(states: States, change: InstanceChange): string | undefined {
  const key = `${change.entitySchema}:${change.instanceId}`;
  const before = states.get(key);
  if ((before === undefined) !== (change.op === 'create')) return `${change.op} of ${key} cannot be`;
  if (change.revision !== (before?.revision ?? 0) + 1) return `${key} jumps to revision ${change.revision}`;
  if (change.op === 'delete') {
    states.delete(key);
    return undefined;
  }
  const state: JsonObject = { ...before?.state, ...change.set };
  for (const attribute of change.unset) delete state[attribute];
  states.set(key, { state, revision: change.revision });
  return undefined;
}
