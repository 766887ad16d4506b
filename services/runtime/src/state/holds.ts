import { ServiceError } from '@orrery/contracts';
import { changeKey } from '../journal/change.js';
import type { Holds, OpenRun } from './deployment-state.js';
import type { Effects } from './effects.js';

type Runs = ReadonlyMap<string, OpenRun>;

/**
 * Whether an item has to wait for a run: it changes an instance that the run holds, or it changes bindings, mode or
 * pauses while the run waits for its payment (docs/execution.md). `own` is the run that the item is a step of.
 *
 * @throws `deployment_busy` for a deletion while a payment settles
 */
export function mustWait(effects: Effects, runs: Runs, own: string | undefined): boolean {
  const { changes } = effects.entry;
  const keys = new Set(changes.map(changeKey));
  const schemas = new Set(changes.map(({ entitySchema }) => entitySchema));
  for (const { id, staged, holds } of runs.values()) {
    if (id === own) continue;
    if (staged && changesWhatRuns(effects)) return true;
    if (holds?.instances.some((key) => keys.has(key))) return true;
    if (holds?.schemas.some((schema) => schemas.has(schema))) return true;
  }
  return false;
}

/** Whether a run can hold this: no other run holds any of it. */
export function canHold(wanted: Holds, runs: Runs, own: string): boolean {
  for (const { id, holds } of runs.values()) {
    if (id !== own && holds !== null && collide(wanted, holds)) return false;
  }
  return true;
}

const schemaOf = (key: string): string => key.slice(0, key.indexOf(':'));

function collide(one: Holds, other: Holds): boolean {
  const keys = new Set(other.instances);
  return (
    one.instances.some((key) => keys.has(key) || other.schemas.includes(schemaOf(key))) ||
    one.schemas.some((schema) => other.schemas.includes(schema)) ||
    other.instances.some((key) => one.schemas.includes(schemaOf(key)))
  );
}

/** Columns that decide what the deployment executes, and whether it does. */
const RUNNING = ['mode', 'owner_paused', 'operator_paused', 'account_paused'] as const;

function changesWhatRuns({ row, bindings }: Effects): boolean {
  if (row?.deleted_at != null) throw new ServiceError('deployment_busy', 'A payment is being settled.');
  return bindings !== undefined || (row !== undefined && RUNNING.some((column) => row[column] !== undefined));
}
