import type { components, EntityInstance } from '@orrery/sdk';

type JsonObject = EntityInstance['state'];
export type InstanceChange = components['schemas']['InstanceChange'];

/** One instance before and after an entry; null: absent. */
export interface BeforeAndAfter {
  readonly instance: string;
  readonly before: JsonObject | null;
  readonly after: JsonObject | null;
}

export const keyOf = ({ entitySchema, instanceId }: { entitySchema: string; instanceId: string }): string =>
  `${entitySchema}:${instanceId}`;

/** Splits `schema:instanceId`; schema names hold no colon. */
export function nameIn(key: string): { entitySchema: string; instanceId: string } {
  const colon = key.indexOf(':');
  return { entitySchema: key.slice(0, colon), instanceId: key.slice(colon + 1) };
}

/** What a change leaves of a state (docs/history.md). */
export function applied(before: JsonObject | null, { op, set, unset }: InstanceChange): JsonObject | null {
  if (op === 'delete') return null;
  const kept = Object.entries(before ?? {}).filter(([attribute]) => !unset.includes(attribute));
  return { ...Object.fromEntries(kept), ...set };
}

export const beforeAndAfter = (before: JsonObject | null, change: InstanceChange): BeforeAndAfter => ({
  instance: keyOf(change),
  before: change.op === 'create' ? null : before,
  after: applied(before, change),
});
