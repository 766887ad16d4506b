import { type AttributeDefinition, childPointer } from '@orrery/contracts';
import { changesIn } from '@orrery/expressions';
import type { StoredVersion } from '../definitions/stored-version.js';

/** Pointer to a version's template. */
export const TEMPLATE = '/mutationSettings/template';

/** How the request spells the map of changes. */
export type ModeMapSpelling = 'stateChanges' | 'stateChangeSchema';

/** A schema of the world that a version names. */
export interface NamedSchema {
  readonly name: string;
  readonly definition: AttributeDefinition[];
}

interface NamedPointer {
  readonly name: string;
  readonly pointer: string;
}

/** The schemas that a version names, in each part of it. */
export const schemasWithPointers = (
  { readEntities, stateChanges, mutationSettings }: StoredVersion,
  spelling: ModeMapSpelling,
): NamedPointer[] => [
  ...readEntities.map(({ schema }, index) => ({ name: schema, pointer: `/readEntities/${index}/schema` })),
  ...membersBelow(`/${spelling}`, stateChanges),
  ...changesIn(mutationSettings?.template ?? {}).flatMap(({ schema, pointer }) =>
    schema === undefined ? [] : [{ name: schema, pointer: `${TEMPLATE}${pointer}` }],
  ),
];

/** The attributes that a version's guards name. */
export const attributesGuarded = ({ guards }: StoredVersion): NamedPointer[] => [
  ...membersBelow('/guards/maxDelta', guards?.maxDelta),
  ...(guards?.deny ?? []).map((name, index) => ({ name, pointer: `/guards/deny/${index}` })),
];

const membersBelow = (pointer: string, named: object | null | undefined): NamedPointer[] =>
  Object.keys(named ?? {}).map((name) => ({ name, pointer: childPointer(pointer, name) }));
