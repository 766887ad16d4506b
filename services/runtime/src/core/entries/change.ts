import type { InstanceChange, JsonObject, JsonValue, StateChangesView } from '@orrery/contracts';

export interface InstanceName {
  entitySchema: string;
  instanceId: string;
}

/** How changes name an instance: `horse:HORSE_1`. Schema names hold no colon, so it is unambiguous. */
export const changeKey = ({ entitySchema, instanceId }: InstanceName): string =>
  `${entitySchema}:${instanceId}`;

/** A journalled change and the state that it leaves, `null` when it deletes. */
export interface CheckedChange extends InstanceChange {
  readonly state: JsonObject | null;
}

declare const checked: unique symbol;

/** Changes that satisfy their schemas: only `core/deciding/check-changes.ts` makes them, and a commit takes nothing else. */
export type CheckedChanges = readonly CheckedChange[] & { readonly [checked]: true };

/** Checked changes that were stored, while nothing else could change their instances (`runs/steps/stage-run.ts`). */
export const storedChanges = (changes: readonly CheckedChange[]): CheckedChanges => changes as CheckedChanges;

/** The part of a checked change that is journalled. */
export const journalled = (change: CheckedChange): InstanceChange => ({
  entitySchema: change.entitySchema,
  instanceId: change.instanceId,
  op: change.op,
  set: change.set,
  unset: change.unset,
  revision: change.revision,
});

/** Equal as JSON: order of keys does not matter, 0 and -0 are one number. Values are as deep as the JSON guard allows. */
export function sameJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (!Array.isArray(a)) return !Array.isArray(b) && sameObjects(a, b);
  return Array.isArray(b) && a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
}

function sameObjects(a: JsonObject, b: JsonObject): boolean {
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]))
  );
}

/**
 * What turns one state into another: attributes to set and attributes to remove. `named` attributes are set even where
 * they stay the same, because the change mentioned them.
 */
export function differenceOf(
  before: JsonObject,
  after: JsonObject,
  named: ReadonlySet<string> = new Set(),
): { set: JsonObject; unset: string[] } {
  const set: JsonObject = {};
  for (const [attribute, value] of Object.entries(after)) {
    const had = Object.hasOwn(before, attribute);
    if (!had || named.has(attribute) || !sameJson(before[attribute], value)) set[attribute] = value;
  }
  return { set, unset: Object.keys(before).filter((attribute) => !Object.hasOwn(after, attribute)) };
}

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

/** An instance's full state is stored as a checkpoint every so many revisions (docs/history.md). */
const CHECKPOINT_EVERY = 100;

/**
 * Whether a checkpoint is stored after a change: the past of an instance is never more than `CHECKPOINT_EVERY` changes
 * after one. A deletion gets one too, because revisions start at 1 again after it.
 */
export const hasCheckpoint = ({ op, revision }: InstanceChange): boolean =>
  op === 'delete' || revision % CHECKPOINT_EVERY === 0;

/** What an entry did, by instance: values as they stood after it, `null` for what it removed. */
export function stateChangesOf(changes: readonly InstanceChange[]): StateChangesView {
  const view: StateChangesView = {};
  for (const change of changes) view[changeKey(change)] = viewOf(change);
  return view;
}

function viewOf({ op, set, unset }: InstanceChange): JsonObject | null {
  if (op === 'delete') return null;
  if (unset.length === 0) return set;
  const view = { ...set };
  for (const attribute of unset) view[attribute] = null;
  return view;
}
