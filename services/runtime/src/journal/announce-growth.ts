import type { Bus } from '@orrery/bus';
import { journalsGrew } from '@orrery/contracts';
import type { Batch } from '../lanes/batch.js';

/** Tells of the moment how far journals go now. At most once: who needs to be sure looks for itself now and then. */
export function announceGrowth(bus: Pick<Bus, 'broadcast'>, { entries }: Pick<Batch, 'entries'>): void {
  if (entries.length === 0) return;
  // Of a deployment with several entries the last one stays.
  const heads = Object.fromEntries(entries.map(({ entry }) => [entry.deployment, entry.seq]));
  bus.broadcast(journalsGrew, { heads }).catch(() => undefined);
}
