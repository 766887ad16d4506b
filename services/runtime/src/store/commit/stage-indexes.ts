import type { CheckedChange } from '@orrery/deciding';
import { type OrderValue, orderValue, valueAt } from '@orrery/expressions';
import type { DeploymentState } from '../state/deployment-state.js';
import type { Batch } from './batch.js';

/** Values of an index that is being built, in the deployment's lane like changes. */
export interface BuiltValues {
  readonly indexId: number;
  readonly values: readonly { readonly instanceId: string; readonly value: OrderValue }[];
  /** The id of the last instance that it has come to. */
  readonly builtTo: number;
  readonly isComplete: boolean;
}

/** What a change is to the indexes of its schema: those of other attributes are left alone. Answers how many rows. */
export function stageIndexedValues(
  batch: Batch,
  { indexes }: DeploymentState,
  change: CheckedChange,
): number {
  let rows = 0;
  for (const { id, entitySchema, attribute } of indexes) {
    if (entitySchema !== change.entitySchema) continue;
    if (change.op === 'update' && !changes(change, attribute)) continue;
    const value = change.state === null ? undefined : orderValue(valueAt(change.state, [attribute]));
    put(batch, id, change.instanceId, value);
    rows += 1;
  }
  return rows;
}

const changes = ({ set, unset }: CheckedChange, attribute: string): boolean =>
  Object.hasOwn(set, attribute) || unset.includes(attribute);

/** Answers how many rows. */
export function stageBuiltValues(
  batch: Batch,
  { indexId, values, builtTo, isComplete }: BuiltValues,
): number {
  for (const { instanceId, value } of values) put(batch, indexId, instanceId, value);
  batch.built.set(indexId, { id: indexId, built_to: builtTo, state: isComplete ? 'complete' : 'building' });
  return values.length + 1;
}

/** The last one of a batch stays. */
function put(batch: Batch, indexId: number, instanceId: string, value: OrderValue | undefined): void {
  batch.indexed.set(`${indexId} ${instanceId}`, { indexId, instanceId, value });
}
