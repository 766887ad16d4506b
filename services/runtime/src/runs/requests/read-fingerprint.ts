import { canonicalHash, type JsonObject } from '@orrery/contracts';
import type { ReadSet, Success } from '../../core/deciding/execution.js';
import { changeKey } from '../../core/entries/change.js';
import type { DeploymentState, Holds } from '../../store/state/deployment-state.js';
import type { Briefing, Resolved } from './resolve-event.js';

/**
 * What a decision was made on. `hash` covers the data read from the deployment. The world's texts and the model stand
 * beside it: the previous release stored and compares `hash` alone.
 */
export interface ReadFingerprint {
  readonly hash: string;
  /** The hash of the world's texts. */
  readonly world: string;
  readonly modelId: string | null;
}

/**
 * The fingerprint of the binding, the definition, the deployment's mode, each instance read (its revision and its row's
 * id, since a re-created instance starts again at revision 1), the schemas read whole, the world's texts and the model.
 * When it is the same again, nothing of that has changed.
 */
export function fingerprintOf(
  { binding, definition }: Resolved,
  {
    row,
    instances,
  }: Pick<DeploymentState, 'instances'> & { readonly row: Pick<DeploymentState['row'], 'mode'> },
  { reads, wholeSchemas }: Pick<ReadSet, 'reads' | 'wholeSchemas'>,
  { world, modelId }: Briefing,
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
  return { hash, world: world.hash, modelId };
}

/** Whether a stored fingerprint (the column `basis`) still fits. */
export const stillFits = (stored: JsonObject | null, now: ReadFingerprint): boolean =>
  stored !== null &&
  Object.entries(now).every(([part, value]) => !(part in stored) || stored[part] === value);

/** What must not change so that a decision on it stays fresh. */
export const holdsOf = ({ reads, wholeSchemas }: Pick<Success, 'reads' | 'wholeSchemas'>): Holds => ({
  instances: reads.filter(({ entitySchema }) => !wholeSchemas.includes(entitySchema)).map(changeKey),
  schemas: [...wholeSchemas],
});
