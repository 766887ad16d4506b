import { jsonb } from '@orrery/database';
import type { Trx } from '../database/db.js';
import type { RareEffect } from '../state/batch.js';
import type { Binding } from '../state/deployment-state.js';
import { writeRun } from './write-run.js';

/** Writes what the batch's one statement has no place for, in the order in which it was decided. */
export async function writeRareEffects(trx: Trx, effects: readonly RareEffect[]): Promise<void> {
  for (const effect of effects) {
    const { deploymentId } = effect;
    if ('row' in effect) {
      const { locked_definition, ...row } = effect.row;
      const definition = locked_definition && { locked_definition: jsonb(locked_definition) };
      await trx
        .updateTable('deployments')
        .set({ ...row, ...definition })
        .where('id', '=', deploymentId)
        .execute();
    } else if ('putBinding' in effect) await putBinding(trx, deploymentId, effect.putBinding);
    else if ('run' in effect) await writeRun(trx, effect.run);
    else {
      await trx
        .deleteFrom('bindings')
        .where('deployment_id', '=', deploymentId)
        .where('event', '=', effect.removeBinding)
        .execute();
    }
  }
}

/** A changed binding keeps its id. */
export async function putBinding(trx: Trx, deploymentId: number, binding: Binding): Promise<void> {
  const changeable = {
    version_id: binding.versionId,
    event_version: binding.eventVersion,
    target_chains: jsonb(binding.targetChains),
    onchain: binding.onchain && jsonb(binding.onchain),
    updated_at: binding.updatedAt,
  };
  await trx
    .insertInto('bindings')
    .values({
      ...changeable,
      id: binding.id,
      deployment_id: deploymentId,
      event: binding.event,
      created_at: binding.createdAt,
    })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(changeable))
    .execute();
}
