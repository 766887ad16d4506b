import { jsonb } from '@orrery/database';
import type { Db, Trx } from '../database/db.js';
import { BINDING_SELECTION, bindingRow } from '../state/binding-columns.js';
import type { Binding } from '../state/deployment-state.js';

/** A deployment's bindings as they are committed, in order of creation. */
export async function listBindings(db: Db, deploymentId: number): Promise<Binding[]> {
  return db
    .selectFrom('bindings')
    .select(BINDING_SELECTION)
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
    ...bindingRow(deploymentId, binding),
    target_chains: jsonb(binding.targetChains),
    onchain: binding.onchain && jsonb(binding.onchain),
  }));
  await trx.insertInto('bindings').values(rows).execute();
}
