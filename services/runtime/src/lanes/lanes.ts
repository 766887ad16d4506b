import { classifyPostgresError, toServiceError } from '@orrery/database';
import type { Clock, Logger } from '@orrery/service-kit';
import type { CommitBatch } from '../commit/commit-batch.js';
import type { Recover } from '../commit/recover-commit.js';
import { NotOwner } from '../ownership/not-owner.js';
import { partitionOf } from '../ownership/partition.js';
import { type Batch, isEmpty } from './batch.js';
import { createBlockedItems } from './blocked-items.js';
import { type DecidedBatch, decideBatch } from './decide-batch.js';
import { type PrepareDependencies, prepareItem } from './prepare-item.js';
import { type QueuedItem, refusalOf } from './queued-item.js';
import type { WorkItem } from './work-item.js';

export interface LanesDependencies extends PrepareDependencies {
  readonly commit: CommitBatch;
  /** Finds out what became of a commit whose answer was lost. */
  readonly recover: Recover;
  /** After each commit, once it is known to have been made: for instance to wake the relay. */
  readonly onCommitted: (batch: Batch) => void;
  /** A commit found that some of these leases are not held any more. */
  readonly onLost: (partitions: readonly number[]) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How often memory is looked at. */
const BATCHES_PER_TRIM = 64;

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
 * All deployments' lanes in one loop with one commit at a time:
 *
 *   submitted → preparing (side by side) → queued → decided (in order) → committing → settled
 *                   ↑──────── something is not in memory ────┤              │
 *                   ↑──────── blocked: until a run lets go ──┘              │
 *                   ↑──────── the commit failed: each once more, alone ─────┘
 *
 * A batch is what was queued while the last commit was in flight. An item is dropped for its deadline or a caller
 * that went away before it is decided, never after.
 */
export function createLanes(dependencies: LanesDependencies): Lanes {
  const { states, clock, logger } = dependencies;
  const queue: QueuedItem[] = [];
  const onTheirWay = createCensus();
  let running = false;

  const enter = async (queued: QueuedItem) => {
    try {
      await prepareItem(dependencies, queued);
      queue.push(queued);
      run();
    } catch (error) {
      queued.reject(error instanceof NotOwner ? error : toServiceError(error));
    }
  };
  const blocked = createBlockedItems(clock, (queued) => void enter(queued));
  const run = () => {
    if (running) return;
    running = true;
    // What arrives in the same turn of the event loop shares the commit.
    setImmediate(() => void runAll());
  };
  const runAll = async () => {
    for (let batches = 1; queue.length > 0; batches += 1) {
      const decided = decideBatch({ states, ids: dependencies.ids, now: clock.now }, queue);
      for (const queued of decided.unready) void enter(queued);
      for (const queued of decided.blocked) blocked.park(queued);
      await commitDecided(decided).catch((error: unknown) => rejectAll(decided.settled, error));
      if (batches % BATCHES_PER_TRIM === 0) states.trim();
    }
    running = false;
  };
  const commitDecided = async (decided: DecidedBatch) => {
    const { batch, settled } = decided;
    if (isEmpty(batch)) return settleAll(settled);
    try {
      const outcome = await dependencies.commit(batch);
      if (outcome === 'lost') return disown(decided);
      dependencies.onCommitted(batch);
      settleAll(settled);
    } catch (error) {
      await recoverFrom(error, decided);
    } finally {
      blocked.release(letGoBy(batch));
    }
  };
  /** Nothing was written, and others own some of the deployments now. */
  const disown = ({ batch, settled }: DecidedBatch) => {
    dependencies.onLost([...batch.leases.keys()]);
    for (const { queued } of settled) queued.reject(new NotOwner(partitionOf(queued.item.deploymentId)));
  };
  const recoverFrom = async (error: unknown, decided: DecidedBatch) => {
    const { batch, settled } = decided;
    for (const id of batch.deployments.keys()) states.forget(id);
    const { kind } = classifyPostgresError(error);
    logger.warn({ err: error, entries: batch.entries.length, kind }, 'a commit failed');
    if (kind === 'unknown_outcome') {
      const written = await dependencies.recover(batch).catch(() => undefined);
      if (written === undefined) return rejectAll(settled, toServiceError(error));
      if (written) {
        dependencies.onCommitted(batch);
        return settleAll(settled);
      }
      for (const { queued } of settled) void enter(queued);
      return;
    }
    for (const { queued } of settled) {
      const again = kind !== 'unavailable' && !queued.alone;
      if (again || kind === 'unique_violation') void enter(Object.assign(queued, { alone: true }));
      else queued.reject(toServiceError(error));
    }
  };

  return {
    submit: <T>(item: WorkItem<T>) => {
      const partition = partitionOf(item.deploymentId);
      onTheirWay.enter(partition);
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
        void enter(queued);
      }).finally(() => onTheirWay.leave(partition));
    },
    drained: (partitions) => {
      blocked.releasePartitions(partitions);
      return onTheirWay.none(partitions);
    },
    disowned: blocked.releasePartitions,
  };
}

/** Deployments of which a run may have let go of something with this batch. */
const letGoBy = ({ rare }: DecidedBatch['batch']): number[] =>
  rare.flatMap((effect) => ('run' in effect ? [effect.deploymentId] : []));

type Settled = DecidedBatch['settled'];

function settleAll(settled: Settled): void {
  for (const { queued, settlement } of settled) {
    if ('error' in settlement) queued.reject(settlement.error);
    else queued.resolve(settlement.reply);
  }
}

function rejectAll(settled: Settled, error: unknown): void {
  for (const { queued } of settled) queued.reject(error);
}

/** Counts the items of each partition that are on their way. */
function createCensus() {
  const counts = new Map<number, number>();
  let waiting: { partitions: readonly number[]; resolve: () => void }[] = [];
  const isEmpty = (partitions: readonly number[]) => partitions.every((one) => !counts.get(one));
  return {
    enter: (partition: number) => void counts.set(partition, (counts.get(partition) ?? 0) + 1),
    leave: (partition: number) => {
      counts.set(partition, (counts.get(partition) ?? 1) - 1);
      for (const { resolve } of waiting.filter(({ partitions }) => isEmpty(partitions))) resolve();
      waiting = waiting.filter(({ partitions }) => !isEmpty(partitions));
    },
    none: (partitions: readonly number[]) =>
      new Promise<void>((resolve) => {
        if (isEmpty(partitions)) resolve();
        else waiting.push({ partitions, resolve });
      }),
  };
}
