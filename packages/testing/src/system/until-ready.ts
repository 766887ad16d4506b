import { systemClock } from '@orrery/service-kit';
import type { NodeProcess } from './node-process.js';

/** Asks `/readyz` until all that a first request needs is there. Fails at once when a process ends. */
export async function untilReady(url: string, processes: readonly NodeProcess[]): Promise<void> {
  let ended: string | undefined;
  for (const process of processes) void process.exited.then(() => (ended = process.output()));
  while (ended === undefined) {
    const answer = await fetch(`${url}/readyz`).catch(() => undefined);
    if (answer?.ok) return;
    await systemClock.sleep(20);
  }
  throw new Error(`a service ended before the system was ready:\n${ended}`);
}
