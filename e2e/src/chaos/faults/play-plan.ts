import { systemClock } from '@orrery/service-kit';
import type { House } from '../house/start-house.js';
import { hitBy, type PlannedFault } from '../plan/draw-plan.js';
import { ofBackends } from './of-backends.js';
import { ofNetworks } from './of-networks.js';
import { type Fault, ofProcesses } from './of-processes.js';
import { ofTheOutside } from './of-the-outside.js';

/** A fault as it was: when it began and ended, in milliseconds after the load had begun. */
export interface PlayedFault extends PlannedFault {
  readonly began: number;
  readonly ended: number;
}

/**
 * Inflicts the faults of a plan and ends each of them; resolves when the last has ended. A fault waits for the end of the
 * one before it at the same target.
 */
export async function playPlan(
  house: House,
  plan: readonly PlannedFault[],
  onFault: (fault: PlannedFault) => void,
): Promise<PlayedFault[]> {
  const start = performance.now();
  const passed = () => Math.round(performance.now() - start);
  const last = new Map<string, Promise<unknown>>();
  const played: PlayedFault[] = [];
  for (const fault of plan) {
    await systemClock.sleep(Math.max(0, fault.at - passed()));
    const before = last.get(hitBy(fault.target)) ?? Promise.resolve();
    const playing = before.then(async () => {
      const began = passed();
      onFault(fault);
      const undo = await FAULTS[fault.kind]?.inflict(house, fault.target);
      await systemClock.sleep(fault.forMs);
      await undo?.();
      played.push({ ...fault, began, ended: passed() });
    });
    // Whoever waits for all of them hears of it.
    playing.catch(() => undefined);
    last.set(hitBy(fault.target), playing);
  }
  await Promise.all(last.values());
  return played;
}

/** All kinds of faults, by name. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  ...ofProcesses,
  ...ofNetworks,
  ...ofBackends,
  ...ofTheOutside,
};
