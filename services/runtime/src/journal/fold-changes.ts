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
  const view: StateChangesView = {};
  for (const change of changes) view[keyOf(change)] = viewOf(change);
  return view;
}

const keyOf = (change: InstanceChange): string => `${change.entitySchema}:${change.instanceId}`;

function viewOf({ op, set, unset }: InstanceChange): JsonObject | null {
  if (op === 'delete') return null;
  if (unset.length === 0) return set;
  const view = { ...set };
  for (const attribute of unset) view[attribute] = null;
  return view;
}
