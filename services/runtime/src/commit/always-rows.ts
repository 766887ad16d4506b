import type { Batch, TouchedInstance } from '../state/batch.js';
import type { MemoryInstance } from '../state/instance-memory.js';
import { jsonField, rowArray, rowText, textField } from './row-text.js';

/** How far the journals of the batch's deployments go, as an array of the type `new_head`. */
export function headRows({ deployments }: Batch): string {
  const rows: string[] = [];
  for (const { id, head } of deployments.values())
    rows.push(rowText([id, head.seq, head.hash, jsonField(head.totals)]));
  return rowArray(rows);
}

/** Which instances each entry changes, as an array of the type `new_change`. */
export function changeRows({ entries }: Batch): string {
  const rows: string[] = [];
  for (const { deploymentId, entry } of entries) {
    for (const { entitySchema, instanceId } of entry.changes)
      rows.push(rowText([deploymentId, textField(entitySchema), textField(instanceId), entry.seq]));
  }
  return rowArray(rows);
}

/** An instance as it is now, for an array of the type `new_state`. Without id and time of creation a row keeps its own. */
export function stateRow(
  { state, entitySchema, instanceId, existedBefore, recreated }: TouchedInstance,
  now: MemoryInstance,
): string {
  const isNew = !existedBefore || recreated;
  return rowText([
    state.id,
    textField(entitySchema),
    textField(instanceId),
    jsonField(now.state),
    now.revision,
    now.updatedAt.toISOString(),
    isNew ? now.id : '',
    isNew ? now.createdAt.toISOString() : '',
  ]);
}
