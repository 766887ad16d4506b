import { abortSignalOf, ServiceError } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import { partitionOf } from '../ownership/partition.js';
import { abortReason, type QueuedItem } from './queued-item.js';

/** Items that wait until a run lets go of what it holds. */
export interface BlockedItems {
  /** Until `release`, or shortly before the item's deadline: then it is refused with `write_conflict`. */
  park(queued: QueuedItem): void;
  /** Lets the items of these deployments try again. */
  release(deploymentIds: Iterable<number>): void;
  /** Lets all items of these partitions find out that they belong elsewhere. */
  releasePartitions(partitions: readonly number[]): void;
}

/** So long before its deadline an item is refused, so that the answer still arrives; at most a tenth of what is left. */
const MARGIN_MS = 250;

export function createBlockedItems(clock: Clock, enter: (queued: QueuedItem) => void): BlockedItems {
  const blocked = new Map<number, Map<QueuedItem, AbortController>>();

  const take = (queued: QueuedItem): boolean => {
    const { deploymentId } = queued.item;
    const ofDeployment = blocked.get(deploymentId);
    const waiting = ofDeployment?.get(queued);
    if (waiting === undefined) return false;
    ofDeployment?.delete(queued);
    if (ofDeployment?.size === 0) blocked.delete(deploymentId);
    waiting.abort();
    return true;
  };
  const refuse = (queued: QueuedItem) => {
    if (!take(queued)) return;
    const { signal } = queued.item;
    queued.reject(signal.aborted ? abortReason(signal) : new ServiceError('write_conflict'));
  };
  const release = (deploymentId: number) => {
    for (const queued of [...(blocked.get(deploymentId)?.keys() ?? [])]) if (take(queued)) enter(queued);
  };

  return {
    park: (queued) => {
      const { deploymentId, deadline, signal } = queued.item;
      const waiting = new AbortController();
      const ofDeployment = blocked.get(deploymentId) ?? new Map<QueuedItem, AbortController>();
      blocked.set(deploymentId, ofDeployment.set(queued, waiting));
      queued.rounds = 0;
      const left = Math.max(0, deadline - clock.now());
      const either = AbortSignal.any([waiting.signal, abortSignalOf(signal)]);
      const over = () => refuse(queued);
      clock.sleep(left - Math.min(MARGIN_MS, left / 10), either).then(over, over);
    },
    release: (deploymentIds) => {
      for (const id of new Set(deploymentIds)) release(id);
    },
    releasePartitions: (partitions) => {
      for (const id of [...blocked.keys()]) if (partitions.includes(partitionOf(id))) release(id);
    },
  };
}
