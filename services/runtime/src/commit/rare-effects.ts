import { jsonb } from '@orrery/database';
import type { Insertable, Updateable } from 'kysely';
import type { Trx } from '../database/db.js';
import type { RuntimeTables } from '../database/schema.js';
import type { RareEffect } from '../state/batch.js';
import type { Binding } from '../state/deployment-state.js';
import type { RunEffect } from '../state/effects.js';

/** Writes the effects that the batch's one statement does not cover, in the order in which they were decided. */
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

type Columns = Updateable<RuntimeTables['runs']>;

const JSON_COLUMNS = ['request', 'holds', 'basis', 'proposal', 'reply', 'error'] as const;

/** Inserting again does nothing, because an item whose commit was lost is decided again. A run that has ended never changes. */
export async function writeRun(trx: Trx, { id, write }: RunEffect): Promise<void> {
  if ('insert' in write) {
    // Every column that the row needs is still there.
    const values = asJson(write.insert) as Insertable<RuntimeTables['runs']>;
    await trx
      .insertInto('runs')
      .values(values)
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
    return;
  }
  await trx
    .updateTable('runs')
    .set(asJson(write.update))
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .execute();
}

function asJson(columns: Columns): Columns {
  const written = JSON_COLUMNS.flatMap((column) => {
    const value = columns[column];
    return value === undefined || value === null ? [] : [[column, jsonb(value)]];
  });
  return { ...columns, ...(Object.fromEntries(written) as Columns) };
}
