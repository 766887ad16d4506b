import { canonicalHash, type JsonObject } from '@orrery/contracts';
import type { ReadSet } from '../execution/read-entities.js';
import type { Resolved } from '../execution/resolve-event.js';
import { changeKey } from '../journal/change.js';
import type { DeploymentState, Holds } from '../state/deployment-state.js';

/**
 * What a decision was made on: the binding, the definition, whether it was locked, each instance read (its revision and
 * its row, since a re-created one starts anew), and for a schema read whole that there was no other. One hash tells
 * whether any of it has changed.
 */
export function basisOf(
  { binding, definition }: Resolved,
  { row, instances }: DeploymentState,
  { reads, wholeSchemas }: ReadSet,
): JsonObject {
  const read = reads.map(({ entitySchema, instanceId, revision }) => [
    changeKey({ entitySchema, instanceId }),
    revision,
    instances.get(entitySchema, instanceId)?.id ?? 0,
  ]);
  const hash = canonicalHash({
    binding: [binding.id, binding.versionId, binding.updatedAt.toISOString()],
    definition: definition.definition.hash,
    mode: row.mode,
    read: read.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
    wholeSchemas: [...wholeSchemas].sort(),
  });
  return { hash };
}

/** What has to stay as it is so that a decision on it cannot go stale. */
export const holdsOf = ({ reads, wholeSchemas }: ReadSet): Holds => ({
  instances: reads.filter(({ entitySchema }) => !wholeSchemas.includes(entitySchema)).map(changeKey),
  schemas: [...wholeSchemas],
});
