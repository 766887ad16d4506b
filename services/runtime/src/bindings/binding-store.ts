import { jsonb } from '@orrery/database';
import type { Db, Trx } from '../database/db.js';
import type { Binding } from '../state/deployment-state.js';

/** A deployment's bindings as they are committed, in order of creation. */
export async function listBindings(db: Db, deploymentId: number): Promise<Binding[]> {
  return db
    .selectFrom('bindings')
    .select([
      'id',
      'event',
      'version_id as versionId',
      'claim_revision as claimRevision',
      'event_version as eventVersion',
      'target_chains as targetChains',
      'onchain',
      'created_at as createdAt',
      'updated_at as updatedAt',
    ])
    .where('deployment_id', '=', deploymentId)
    .orderBy('id')
    .execute();
}

/** The bindings that a new deployment begins with. */
export async function insertBindings(
  trx: Trx,
  deploymentId: number,
  bindings: readonly Binding[],
): Promise<void> {
  if (bindings.length === 0) return;
  const rows = bindings.map((binding) => ({
    id: binding.id,
    deployment_id: deploymentId,
    event: binding.event,
    version_id: binding.versionId,
    claim_revision: binding.claimRevision,
    event_version: binding.eventVersion,
    target_chains: jsonb(binding.targetChains),
    onchain: binding.onchain && jsonb(binding.onchain),
    created_at: binding.createdAt,
    updated_at: binding.updatedAt,
  }));
  await trx.insertInto('bindings').values(rows).execute();
}
