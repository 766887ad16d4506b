import { ServiceError } from '@orrery/contracts';
import { changeKey } from '../journal/change.js';
import type { Effects } from './effects.js';
import { type HoldName, type OpenRuns, ofInstance, ofSchema, WHAT_RUNS } from './open-runs.js';

/**
 * What an item has to wait for: an instance that it changes is held by a run, or it changes bindings, mode or pauses
 * while a run waits for its payment (docs/execution.md). `own` is the run that the item is a step of.
 *
 * @throws `deployment_busy` for a deletion while a payment settles
 */
export function mustWait(effects: Effects, runs: OpenRuns, own: string | undefined): HoldName | undefined {
  const isHeld = runs.isHeld(WHAT_RUNS, own);
  if (effects.row?.deleted_at != null && (isHeld || runs.awaiting > 0))
    throw new ServiceError(
      'deployment_busy',
      'A payment is being settled: delete the deployment in a few minutes.',
    );
  if (isHeld && changesWhatRuns(effects)) return WHAT_RUNS;
  for (const change of effects.entry.changes) {
    const names = [ofInstance(changeKey(change)), ofSchema(change.entitySchema)];
    for (const name of names) if (runs.isHeld(name, own)) return name;
  }
  return undefined;
}

/** Columns that decide what the deployment executes, and whether it does. */
const RUNNING = ['mode', 'owner_paused', 'operator_paused', 'account_paused'] as const;

const changesWhatRuns = ({ row, bindings }: Effects): boolean =>
  bindings !== undefined || (row !== undefined && RUNNING.some((column) => row[column] !== undefined));
