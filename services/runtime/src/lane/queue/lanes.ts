import { toCallError } from '@orrery/database';
import { activeTrace, type Clock, createInFlightCounter, type Semaphore, Slots } from '@orrery/service-kit';
import { NotOwner, partitionOf } from '../../store/leases/partitions.js';
import { TURN_TO_STAGE, WHAT_RUNS } from '../../store/state/deployment-state.js';
import type { WorkItem } from '../items/work-item.js';
import { type CommitDependencies, createBatches } from './batches.js';
import {
  createWaitingItems,
  type PrepareDependencies,
  prepareItem,
  type QueuedItem,
  refusalOf,
  type WaitingItems,
} from './queued-items.js';
import type { LostTails, ResidentStates } from './resident-states.js';

interface LanesDependencies extends PrepareDependencies, CommitDependencies {
  readonly states: ResidentStates;
  readonly lostTails: LostTails;
  readonly commitSlots: Semaphore;
  readonly clock: Clock;
}

/** The one way to change deployments that this process owns. */
export interface Lanes {
  /**
   * Queues an item in its deployment's lane; resolves once its effects are durable.
   * @throws NotOwner when this process does not own the deployment (any more); nothing has happened then.
   */
  submit<T>(item: WorkItem<T>): Promise<T>;
  /** As `disowned`; resolves when nothing of these partitions is being committed either. */
  drained(partitions: readonly number[]): Promise<void>;
  /**
   * This process does not serve these any more: all items are refused with NotOwner but those whose batch is being
   * committed. These are refused when their commit is known to have written nothing.
   */
  disowned(partitions: readonly number[]): void;
  /** The states of these partitions are read again, so their waiting items are prepared and decided again. */
  renewed(partitions: readonly number[]): void;
}

/**
 * All deployments' lanes, together:
 *
 *   submitted → preparing (concurrently) → queued → decided (in order) → committing → settled
 *                   ↑──────── something is not in memory ────┤              │
 *                   ↑──────── waiting: until a run releases ─┘              │
 *                   ↑──────── the commit failed: once more, isolated ───────┘
 *
 * An item whose deadline has passed or whose caller has gone is dropped before it is decided, never after.
 */
export function createLanes(dependencies: LanesDependencies): Lanes {
  const { clock } = dependencies;
  const inFlight = createInFlightCounter();
  const open = new Slots<QueuedItem>();
  const prepareAndQueue = (queued: QueuedItem): void => {
    if (queued.stage === 'committing') queued.stage = 'undecided';
    prepareItem(dependencies, queued).then(
      () => queueForDecision(queued),
      (error: unknown) => queued.reject(error instanceof NotOwner ? error : toCallError(error)),
    );
  };
  const waiting: WaitingItems = createWaitingItems(clock, prepareAndQueue, (deploymentId, name) => {
    if (name === TURN_TO_STAGE) return waiting.isAwaited(deploymentId, WHAT_RUNS);
    const state = dependencies.states.peek(deploymentId);
    return state?.row.deleted_at === null && state.runs.isHeld(name);
  });
  const queueForDecision = createBatches({
    ...dependencies,
    clock,
    prepareAndQueue,
    waitForRun: waiting.wait,
    isAwaited: waiting.isAwaited,
    onDone: ({ batch }) => waiting.release(batch.deployments.keys()),
  });

  const release = (partitions: readonly number[]) => {
    waiting.releasePartitions(partitions);
    for (const [, queued] of open.entries()) {
      const partition = partitionOf(queued.item.deploymentId);
      if (queued.stage !== 'undecided' || !partitions.includes(partition)) continue;
      queued.stage = 'released';
      queued.reject(new NotOwner(partition));
    }
  };

  return {
    submit: <T>(item: WorkItem<T>) => {
      const partition = partitionOf(item.deploymentId);
      inFlight.begin(partition);
      return new Promise<T>((resolve, reject) => {
        const end = () => {
          if (open.take(number) !== undefined) inFlight.end(partition);
          waiting.settled(queued);
        };
        const queued: QueuedItem = {
          item,
          resolve: (answer) => {
            end();
            // The answer has type T: `item.decide` produced it.
            resolve(answer as T);
          },
          reject: (error) => {
            end();
            reject(refusalOf(error));
          },
          trace: activeTrace(),
          stage: 'undecided',
          needs: undefined,
          state: undefined,
          isolated: false,
          violations: 0,
          preparations: 0,
        };
        const number = open.add(queued);
        prepareAndQueue(queued);
      });
    },
    drained: (partitions) => {
      release(partitions);
      return inFlight.untilNone(partitions);
    },
    disowned: release,
    renewed: waiting.releasePartitions,
  };
}
