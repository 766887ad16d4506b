import { canonicalHash, type JsonObject } from '@orrery/contracts';
import type { ReadSet } from '../execution/read-entities.js';
import { changeKey } from '../journal/change.js';
import type { DeploymentState, Holds } from '../state/deployment-state.js';
import type { Resolved } from './execution-request.js';

/** Stored in the column `basis` of a run, beside the decider's answer. */
export type ReadFingerprint = JsonObject & { readonly hash: string };

/**
 * A hash over everything that a decision was made on: the binding, the definition, the deployment's mode, each instance
 * read (its revision and its row's id, since a re-created instance starts again at revision 1), and the schemas read
 * whole. When it is the same again, nothing of that has changed.
 */
export function fingerprintOf(
  { binding, definition }: Resolved,
  {
    row,
    instances,
  }: Pick<DeploymentState, 'instances'> & { readonly row: Pick<DeploymentState['row'], 'mode'> },
  { reads, wholeSchemas }: Pick<ReadSet, 'reads' | 'wholeSchemas'>,
): ReadFingerprint {
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

/** What must not change so that a decision on it stays fresh. */
export const holdsOf = ({ reads, wholeSchemas }: Pick<ReadSet, 'reads' | 'wholeSchemas'>): Holds => ({
  instances: reads.filter(({ entitySchema }) => !wholeSchemas.includes(entitySchema)).map(changeKey),
  schemas: [...wholeSchemas],
});
