import type { Semaphore } from '@orrery/service-kit';
import { isEmpty } from '../state/batch.js';
import type { ResidentStates } from '../state/resident-states.js';
import { type CarryOutDependencies, createCarryOut, settleAll } from './carry-out.js';
import { type DecideDependencies, type DecidedBatch, decideBatch } from './decide-batch.js';
import type { QueuedItem } from './queued-item.js';

/** Beside another one, a commit is worth its own cost from so many items on; fewer share the next. */
const WORTH_A_COMMIT = 8;
/** How often memory is looked at. */
const BATCHES_PER_TRIM = 64;

export interface BatchesDependencies extends DecideDependencies, CarryOutDependencies {
  readonly states: ResidentStates;
  readonly commitSlots: Semaphore;
  /** Prepares an item (again), then adds it. */
  readonly enter: (queued: QueuedItem) => void;
  /** Takes an item that has to wait for a run. */
  readonly park: (queued: QueuedItem) => void;
  /** A batch is through, whatever came of it. */
  readonly onThrough: (decided: DecidedBatch) => void;
}

/**
 * Decides and commits prepared items in batches: what was added since the last one began. Few are in flight at once, and no
 * two have a deployment in common: an item whose deployment is in one waits for its end.
 *
 * @returns how to add an item.
 */
export function createBatches(dependencies: BatchesDependencies): (queued: QueuedItem) => void {
  const { states, commitSlots, enter, park, onThrough } = dependencies;
  const carryOut = createCarryOut(dependencies, enter);
  const queue: QueuedItem[] = [];
  /** Deployments in batches that are being committed. */
  const uncommitted = new Set<number>();
  let through = 0;
  let isScheduled = false;

  const isWorthACommit = () =>
    commitSlots.taken === 0
      ? queue.length > 0
      : !commitSlots.isFull && hasFree(queue, uncommitted, WORTH_A_COMMIT);
  const begin = () => {
    while (isWorthACommit()) {
      const decided = decideBatch(dependencies, queue, uncommitted);
      for (const queued of decided.unready) enter(queued);
      for (const queued of decided.blocked) park(queued);
      if (isEmpty(decided.batch)) settleAll(decided.settled);
      else void carry(decided);
    }
  };
  const carry = async (decided: DecidedBatch) => {
    for (const id of decided.batch.deployments.keys()) uncommitted.add(id);
    commitSlots.take();
    await carryOut(decided);
    commitSlots.release();
    for (const [id, state] of decided.batch.deployments) {
      // Read anew while the commit was in flight, it may have been read as it was before.
      if (!states.isCurrent(state)) states.forget(id);
      uncommitted.delete(id);
    }
    onThrough(decided);
    through += 1;
    if (through % BATCHES_PER_TRIM === 0) states.trim(uncommitted);
    begin();
  };
  return (queued) => {
    queue.push(queued);
    if (isScheduled) return;
    isScheduled = true;
    // What arrives in the same turn of the event loop shares the commit.
    setImmediate(() => {
      isScheduled = false;
      begin();
    });
  };
}

/** Whether so many of the items could be decided now. */
function hasFree(queue: readonly QueuedItem[], uncommitted: ReadonlySet<number>, count: number): boolean {
  let free = 0;
  for (const { item } of queue) {
    if (!uncommitted.has(item.deploymentId)) free += 1;
    if (free === count) return true;
  }
  return false;
}
