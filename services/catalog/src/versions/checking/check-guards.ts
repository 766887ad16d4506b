import { attributeName, childPointer, type FieldProblem, fieldProblem } from '@orrery/contracts';
import type { StoredVersion } from '../stored-version.js';

/** Guards speak of attributes by name; one that can never be an attribute's is a mistake. */
export function wrongGuards({ guards }: StoredVersion): FieldProblem[] {
  const deltas = Object.keys(guards?.maxDelta ?? {}).map((name) => ({
    name,
    pointer: childPointer('/guards/maxDelta', name),
  }));
  const denied = (guards?.deny ?? []).map((name, index) => ({ name, pointer: `/guards/deny/${index}` }));
  return [...deltas, ...denied]
    .filter(({ name }) => !attributeName.safeParse(name).success)
    .map(({ pointer }) => fieldProblem(pointer, 'invalid_attribute_name', 'no attribute can have this name'));
}
