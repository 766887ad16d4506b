import type { Bus } from '@orrery/bus';
import { journalHeads } from '@orrery/contracts';
import type { Batch } from '../state/batch.js';

/** Tells of the moment how far journals go now. At most once: who needs to be sure looks for itself now and then. */
export function announceGrowth(
  bus: Pick<Bus, 'broadcast'>,
  { entries, deployments }: Pick<Batch, 'entries' | 'deployments'>,
): void {
  if (entries.length === 0) return;
  const heads = [...deployments.values()].map(({ row, head }): [string, number] => [row.address, head.seq]);
  bus.broadcast(journalHeads, { heads }).catch(() => undefined);
}
