import type { Db } from '../database/db.js';
import type { Binding } from '../state/deployment-state.js';

/** A deployment's bindings as they are committed, in order of creation. */
export async function listBindings(db: Db, deploymentId: number): Promise<Binding[]> {
  return db
    .selectFrom('bindings')
    .select([
      'id',
      'event',
      'version_id as versionId',
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
