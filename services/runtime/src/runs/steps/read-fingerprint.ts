import { canonicalHash, type JsonObject } from '@orrery/contracts';
import { changeKey, type ReadSet } from '@orrery/deciding';
import type { DeploymentState } from '../../store/state/deployment-state.js';
import type { Briefing, Resolved } from '../requests/resolve-event.js';

/**
 * What a decision was made on. `hash` covers the data read from the deployment. The world's texts and the model stand
 * beside it: the previous release stored and compares `hash` alone.
 */
export interface ReadFingerprint {
  readonly hash: string;
  /** The hash of the world's texts. */
  readonly world: string;
  readonly modelId: string | null;
  /** Of what the decider was given of the journal. It is recorded and not compared (ADR 40). */
  readonly readHistoryHash?: string;
}

/**
 * The fingerprint of the binding, the definition, the deployment's mode, each instance read (its revision and its row's
 * id, since a re-created instance starts again at revision 1), the schemas read whole, the world's texts and the model.
 * When it is the same again, nothing of that has changed.
 */
export function fingerprintOf(
  { binding, definition }: Resolved,
  { row, instances }: { readonly row: { readonly mode: string } } & Pick<DeploymentState, 'instances'>,
  { reads, wholeSchemas, searched = [] }: Pick<ReadSet, 'reads' | 'wholeSchemas'> & Partial<ReadSet>,
  { world, modelId }: Briefing,
): ReadFingerprint {
  const all = searched.length === 0 ? reads : [...reads, ...searched];
  const read = all.map(({ entitySchema, instanceId, revision }) => [
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
