import type { InstanceChange, JsonObject } from '@orrery/contracts';

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

/** Changes that satisfy their schemas: only `execution/check-changes.ts` makes them, and a commit takes nothing else. */
export type CheckedChanges = readonly CheckedChange[] & { readonly [checked]: true };

/** The part of a checked change that is journalled. */
export const journalled = (change: CheckedChange): InstanceChange => ({
  entitySchema: change.entitySchema,
  instanceId: change.instanceId,
  op: change.op,
  set: change.set,
  unset: change.unset,
  revision: change.revision,
});
