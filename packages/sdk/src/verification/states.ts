import type { components } from '../generated/api.js';
import { canonicalJson, sha256 } from './hash-chain.js';

type Change = components['schemas']['InstanceChange'];
type State = Readonly<Record<string, unknown>>;
/** Schema and instanceId, joined by the first colon: a schema's name has none. */
type Key = string;

/** The states of all instances of a deployment after some entry. */
export type States = Map<Key, State>;

export const keyOf = (entitySchema: string, instanceId: string): Key => `${entitySchema}:${instanceId}`;

/** Applies a change (docs/history.md, "Changes and their fold"). Answers false where it cannot follow the state. */
export function applyChange(states: States, { entitySchema, instanceId, op, set, unset }: Change): boolean {
  const key = keyOf(entitySchema, instanceId);
  if (states.has(key) !== (op !== 'create')) return false;
  if (op === 'delete') return states.delete(key);
  const removed = new Set(unset);
  const merged = Object.entries({ ...states.get(key), ...set }).filter(([name]) => !removed.has(name));
  states.set(key, Object.fromEntries(merged));
  return true;
}

/** `source.snapshotHash` of a clone that begins with these states. */
export function snapshotHash(states: States): Promise<string> {
  const rows = [...states].map(([key, state]) => {
    const colon = key.indexOf(':');
    return { entitySchema: key.slice(0, colon), instanceId: key.slice(colon + 1), state };
  });
  rows.sort((a, b) => inBytes(a.entitySchema, b.entitySchema) || inBytes(a.instanceId, b.instanceId));
  return sha256(rows.map((row) => `${canonicalJson(row)}\n`).join(''));
}

/** The order of UTF-8 bytes, which is that of code points and not of UTF-16 code units. */
function inBytes(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  for (let at = 0; at < Math.min(left.length, right.length); at += 1) {
    const difference = (left[at]?.codePointAt(0) ?? 0) - (right[at]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
