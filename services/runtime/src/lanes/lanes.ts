import { toServiceError } from '@orrery/database';
import type { Clock, Semaphore } from '@orrery/service-kit';
import { createInFlightCounter } from '@orrery/service-kit';
import { NotOwner } from '../ownership/not-owner.js';
import { partitionOf } from '../ownership/partition.js';
import type { Batch } from '../state/batch.js';
import type { ResidentStates } from '../state/resident-states.js';
import type { WorkItem } from '../state/work-item.js';
import { createBatches } from './batches.js';
import { createBlockedItems } from './blocked-items.js';
import type { CarryOutDependencies } from './carry-out.js';
import { type PrepareDependencies, prepareItem } from './prepare-item.js';
import { type QueuedItem, refusalOf } from './queued-item.js';

export interface LanesDependencies extends PrepareDependencies, CarryOutDependencies {
  readonly states: ResidentStates;
  readonly commitSlots: Semaphore;
  readonly clock: Clock;
}

/** The one way to change deployments that this process owns. */
export interface Lanes {
  /**
   * Takes an item into its deployment's order and resolves once what it decided is durable.
   * @throws NotOwner when the deployment is not (any more) owned here; nothing has happened then.
   */
  submit<T>(item: WorkItem<T>): Promise<T>;
  /** Resolves when nothing of these partitions is prepared, queued or being committed. */
  drained(partitions: readonly number[]): Promise<void>;
  /** These are not owned here any more: what waits finds out. */
  disowned(partitions: readonly number[]): void;
}

/**
 * All deployments' lanes, together:
 *
 *   submitted → preparing (side by side) → queued → decided (in order) → committing → settled
 *                   ↑──────── something is not in memory ────┤              │
 *                   ↑──────── blocked: until a run lets go ──┘              │
 *                   ↑──────── the commit failed: each once more, alone ─────┘
 *
 * An item is dropped for its deadline or a caller that went away before it is decided, never after.
 */
export function createLanes(dependencies: LanesDependencies): Lanes {
  const { clock } = dependencies;
  const inFlight = createInFlightCounter();
  const enter = (queued: QueuedItem): void => {
    prepareItem(dependencies, queued).then(
      () => add(queued),
      (error: unknown) => queued.reject(error instanceof NotOwner ? error : toServiceError(error)),
    );
  };
  const blocked = createBlockedItems(clock, enter);
  const add = createBatches({
    ...dependencies,
    now: clock.now,
    enter,
    park: blocked.park,
    onThrough: ({ batch }) => blocked.release(letGoBy(batch)),
  });

  return {
    submit: <T>(item: WorkItem<T>) => {
      const partition = partitionOf(item.deploymentId);
      inFlight.begin(partition);
      return new Promise<T>((resolve, reject) => {
        const queued: QueuedItem = {
          item,
          // Settled with what the item's own `decide` made.
          resolve: (answer) => resolve(answer as T),
          reject: (error) => reject(refusalOf(error)),
          needs: undefined,
          state: undefined,
          alone: false,
          rounds: 0,
        };
        enter(queued);
      }).finally(() => inFlight.end(partition));
    },
    drained: (partitions) => {
      blocked.releasePartitions(partitions);
      return inFlight.untilNone(partitions);
    },
    disowned: blocked.releasePartitions,
  };
}

/** Deployments of which a run may have let go of something with this batch. */
const letGoBy = ({ rare }: Batch): number[] =>
  rare.flatMap((effect) => ('run' in effect ? [effect.deploymentId] : []));
