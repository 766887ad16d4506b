import type { InstanceChange, JsonObject, StateChangesView } from '@orrery/contracts';

/** The state after a change, `null` when it deleted. Throws RangeError for a change that cannot follow this state. */
export function foldChange(state: JsonObject | null, change: InstanceChange): JsonObject | null {
  if ((state === null) !== (change.op === 'create')) {
    throw new RangeError(`${change.op} of ${state === null ? 'an absent' : 'a present'} instance`);
  }
  if (change.op === 'delete') return null;
  const after = { ...state, ...change.set };
  for (const attribute of change.unset) delete after[attribute];
  return after;
}

/** What an entry did, by instance: values as they stood after it, `null` for what it removed. */
export function stateChangesOf(changes: readonly InstanceChange[]): StateChangesView {
  return Object.fromEntries(changes.map((change) => [keyOf(change), viewOf(change)]));
}

const keyOf = (change: InstanceChange): string => `${change.entitySchema}:${change.instanceId}`;

function viewOf(change: InstanceChange): JsonObject | null {
  if (change.op === 'delete') return null;
  return { ...change.set, ...Object.fromEntries(change.unset.map((attribute) => [attribute, null])) };
}
