import type { JsonObject } from '@orrery/sdk';
import { splitKey } from '../api/deployments.js';

/** The attributes of one instance that an execution changes, with what they were. */
export interface ChangedInstance {
  readonly key: string;
  readonly entitySchema: string;
  readonly instanceId: string;
  readonly op: 'create' | 'update' | 'delete';
  readonly rows: readonly ChangeRow[];
}
export interface ChangeRow {
  readonly attribute: string;
  /** `undefined`: the attribute was, or is, not there. */
  readonly before: unknown;
  readonly after: unknown;
  /** False where the value is set to what it was. */
  readonly isChanged: boolean;
  readonly delta?: number;
}

/** States before an execution, by `schema:instanceId`; null where there was no such instance. */
export type StatesBefore = ReadonlyMap<string, JsonObject | null>;

/**
 * What an answer's `stateChanges` change, next to the states before. An instance whose state before is not known has
 * the new values alone.
 */
export function changedInstances(
  stateChanges: Readonly<Record<string, JsonObject | null>>,
  before: StatesBefore,
): ChangedInstance[] {
  return Object.entries(stateChanges).map(([key, after]) => {
    const { entitySchema, instanceId } = splitKey(key);
    const state = before.get(key);
    const op = after === null ? 'delete' : state === null ? 'create' : 'update';
    return { key, entitySchema, instanceId, op, rows: rowsOf(state ?? {}, after) };
  });
}

function rowsOf(before: JsonObject, after: JsonObject | null): ChangeRow[] {
  const names = Object.keys(after ?? before);
  return names.map((attribute) => {
    const [from, to] = [before[attribute], after === null ? undefined : after[attribute]];
    const isChanged = JSON.stringify(from) !== JSON.stringify(to);
    const isMoved = isChanged && typeof from === 'number' && typeof to === 'number';
    return { attribute, before: from, after: to, isChanged, ...(isMoved && { delta: difference(from, to) }) };
  });
}

/** Without the digits that binary fractions add: 0.3 - 0.1 is 0.2. */
const difference = (from: number, to: number): number => Number((to - from).toPrecision(12));
