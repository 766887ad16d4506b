import type { components, EntityInstance } from '@orrery/sdk';

type State = EntityInstance['state'];
export type InstanceChange = components['schemas']['InstanceChange'];

/** What a change leaves of a state (docs/history.md); null: absent. */
export function applied(before: State | null, { op, set, unset }: InstanceChange): State | null {
  if (op === 'delete') return null;
  const kept = Object.entries(op === 'create' ? {} : (before ?? {}));
  return { ...Object.fromEntries(kept.filter(([attribute]) => !unset.includes(attribute))), ...set };
}
