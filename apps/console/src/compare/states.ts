import type { EntityInstance, JsonObject } from '@orrery/sdk';
import { instanceKey } from '../api/deployments.js';
import type { JournalEntry } from '../live/entry-words.js';

/** What is compared of an instance. */
export type Stated = Pick<EntityInstance, 'entitySchema' | 'instanceId' | 'state'>;

/** What was read of a side. */
export interface ReadSide {
  readonly instances: readonly Stated[];
  /** It has more, which were not read. */
  readonly isCut: boolean;
}

/** An instance that is not the same on both sides; undefined: it is not there. */
export interface Differing {
  readonly instance: string;
  readonly left: JsonObject | undefined;
  readonly right: JsonObject | undefined;
}

/**
 * The instances that differ, by their keys, in the order of the left side; those of the right alone come last. What a side
 * that is cut has not shown may be among the rest of it: such an instance is not compared.
 */
export function differing(left: ReadSide, right: ReadSide): Differing[] {
  const mine = new Map(left.instances.map((one) => [instanceKey(one), one.state]));
  const theirs = new Map(right.instances.map((one) => [instanceKey(one), one.state]));
  const isKnown = (instance: string) =>
    (mine.has(instance) || !left.isCut) && (theirs.has(instance) || !right.isCut);
  return [...new Set([...mine.keys(), ...theirs.keys()])]
    .filter(isKnown)
    .map((instance) => ({ instance, left: mine.get(instance), right: theirs.get(instance) }))
    .filter((pair) => !isSame(pair.left, pair.right));
}

/** Whether two JSON values are the same, in whatever order their members are. */
export function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [mine, theirs] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const names = Object.keys(mine);
  return (
    names.length === Object.keys(theirs).length &&
    names.every((name) => Object.hasOwn(theirs, name) && isSame(mine[name], theirs[name]))
  );
}

/** What of an entry one compares with another: not its place, its hashes and its time. */
export const shownEntry = (entry: JournalEntry) => ({
  what:
    entry.kind === 'execution' ? { event: entry.event, version: entry.eventVersion } : { kind: entry.kind },
  caller: entry.caller,
  ...(entry.trigger !== null && { trigger: entry.trigger }),
  ...(entry.status !== null && { status: entry.status }),
  input: entry.input,
  changes: entry.stateChanges,
  result: entry.result,
  ...(entry.error !== null && { error: { code: entry.error.code, detail: entry.error.detail } }),
});
