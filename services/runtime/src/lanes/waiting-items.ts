import { abortSignalOf, ServiceError } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import { partitionOf } from '../ownership/partitions.js';
import { abortReason, type QueuedItem } from './queued-item.js';

/** Items that wait until a run releases what it holds. */
export interface WaitingItems {
  /** Waits until `release`; shortly before its deadline the item is refused with `write_conflict`. */
  add(queued: QueuedItem): void;
  /** Enters the items of these deployments again. */
  release(deploymentIds: Iterable<number>): void;
  /** Enters all items of these partitions again, so that they find that another process owns them. */
  releasePartitions(partitions: readonly number[]): void;
}

/** An item is refused this long before its deadline, so that the answer still arrives; at most a tenth of the time left. */
const MARGIN_MS = 250;

export function createWaitingItems(clock: Clock, enter: (queued: QueuedItem) => void): WaitingItems {
  const waiting = new Map<number, Map<QueuedItem, AbortController>>();

  const take = (queued: QueuedItem): boolean => {
    const { deploymentId } = queued.item;
    const ofDeployment = waiting.get(deploymentId);
    const timer = ofDeployment?.get(queued);
    if (timer === undefined) return false;
    ofDeployment?.delete(queued);
    if (ofDeployment?.size === 0) waiting.delete(deploymentId);
    timer.abort();
    return true;
  };
  const refuse = (queued: QueuedItem) => {
    if (!take(queued)) return;
    const { signal } = queued.item;
    queued.reject(signal.aborted ? abortReason(signal) : new ServiceError('write_conflict'));
  };
  const release = (deploymentId: number) => {
    for (const queued of [...(waiting.get(deploymentId)?.keys() ?? [])]) if (take(queued)) enter(queued);
  };

  return {
    add: (queued) => {
      const { deploymentId, deadline, signal } = queued.item;
      const timer = new AbortController();
      const ofDeployment = waiting.get(deploymentId) ?? new Map<QueuedItem, AbortController>();
      waiting.set(deploymentId, ofDeployment.set(queued, timer));
      queued.rounds = 0;
      const left = Math.max(0, deadline - clock.now());
      const either = AbortSignal.any([timer.signal, abortSignalOf(signal)]);
      const refuseIt = () => refuse(queued);
      clock.sleep(left - Math.min(MARGIN_MS, left / 10), either).then(refuseIt, refuseIt);
    },
    release: (deploymentIds) => {
      for (const id of new Set(deploymentIds)) release(id);
    },
    releasePartitions: (partitions) => {
      for (const id of [...waiting.keys()]) if (partitions.includes(partitionOf(id))) release(id);
    },
  };
}
