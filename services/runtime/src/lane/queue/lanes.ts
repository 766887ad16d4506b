import { classifyPostgresError, type PostgresFailure, toCallError, toServiceError } from '@orrery/database';
import { activeTrace, createInFlightCounter, isTraced, Slots } from '@orrery/service-kit';
import { isEmpty } from '../../store/commit/batch.js';
import type { Refusal } from '../../store/commit/commit-statement.js';
import { NotOwner, partitionOf } from '../../store/leases/leases.js';
import { TURN_TO_STAGE, WHAT_RUNS } from '../../store/state/deployment-state.js';
import type { WorkItem } from '../items/work-item.js';
import { type DecidedBatch, decideBatch } from './decide-batch.js';
import {
  createWaitingItems,
  type LaneParts,
  prepareItem,
  type QueuedItem,
  reasonToDrop,
  type WaitingItems,
} from './queued-items.js';
import { createTurns, type Turns } from './resident-states.js';

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
export function createLanes(parts: LaneParts) {
  const inFlight = createInFlightCounter();
  const open = new Slots<QueuedItem>();
  const traced = isTraced();
  const turns = createTurns(parts.states);
  const left = new WeakSet<QueuedItem>();
  /** What stayed behind it is decided without it. */
  const giveUp = (queued: QueuedItem): void => {
    if (queued.item.turn === undefined || left.has(queued)) return;
    turns.giveUp(queued.item);
    batches.look();
  };
  /** Items that are being prepared, by deployment: what is loaded for them is to be there when they are decided. */
  const preparing = createInFlightCounter();
  const prepareAndQueue = (queued: QueuedItem): void => {
    if (queued.stage === 'committing') queued.stage = 'undecided';
    const { deploymentId } = queued.item;
    preparing.begin(deploymentId);
    prepareItem(parts, queued, () => giveUp(queued)).then(
      () => {
        preparing.end(deploymentId);
        batches.add(queued);
      },
      (error: unknown) => {
        preparing.end(deploymentId);
        queued.reject(error);
      },
    );
  };
  const waiting: WaitingItems = createWaitingItems(parts.clock, prepareAndQueue, (deploymentId, name) => {
    if (name === TURN_TO_STAGE) return waiting.isAwaited(deploymentId, WHAT_RUNS);
    const state = parts.states.peek(deploymentId);
    return state?.row.deleted_at === null && state.runs.isHeld(name);
  });
  const batches = createBatches(parts, waiting, turns, prepareAndQueue, preparing);

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
    /**
     * Queues an item in its deployment's lane; resolves once its effects are durable.
     * @throws NotOwner when this process does not own the deployment (any more); nothing has happened then.
     */
    submit: <T>(item: WorkItem<T>): Promise<T> => {
      const partition = partitionOf(item.deploymentId);
      inFlight.begin(partition);
      return new Promise<T>((resolve, reject) => {
        const end = () => {
          // One that was released has left already: another of the same turn may be in the lane by now.
          if (open.take(number) !== undefined) {
            inFlight.end(partition);
            turns.left(item);
            left.add(queued);
          }
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
            // Also one that could not be prepared: it is tried again later, and nothing waits for that.
            giveUp(queued);
            end();
            // NotOwner goes to the router, an unknown error becomes `internal`.
            reject(error instanceof NotOwner ? error : toCallError(error));
          },
          trace: traced ? activeTrace() : undefined,
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
    /** As `disowned`; resolves when nothing of these partitions is being committed either. */
    drained: (partitions: readonly number[]): Promise<void> => {
      release(partitions);
      return inFlight.untilNone(partitions);
    },
    /**
     * This process does not serve these any more: all items are refused with NotOwner but those whose batch is being
     * committed. These are refused when their commit is known to have written nothing.
     */
    disowned: release,
    /** The states of these partitions are read again, so their waiting items are prepared and decided again. */
    renewed: waiting.releasePartitions,
  };
}

/** The one way to change deployments that this process owns. */
export type Lanes = ReturnType<typeof createLanes>;

/** Start another commit beside a running one only for at least this many items; fewer wait for the running one. */
const WORTH_A_COMMIT = 8;
const BATCHES_PER_TRIM = 64;

/**
 * Decides and commits prepared items in batches: those that were queued since the last batch began. A few batches are in
 * flight at once, never two of the same deployment: its items wait for the end of the batch that it is in.
 */
export function createBatches(
  parts: LaneParts,
  waiting: WaitingItems,
  turns: Turns,
  prepareAndQueue: (queued: QueuedItem) => void,
  preparing: Pick<ReturnType<typeof createInFlightCounter>, 'keys'>,
) {
  const { states, commitSlots, clock } = parts;
  const commitAndReply = createCommitAndReply(parts, prepareAndQueue);
  const queue: QueuedItem[] = [];
  /** Deployments in batches that are being committed. */
  const uncommitted = new Set<number>();
  let done = 0;
  let isScheduled = false;

  /** What is to be dropped does not stay: it may hold what the follow-up before it waits for. */
  const stays = (queued: QueuedItem) =>
    uncommitted.has(queued.item.deploymentId) ||
    (turns.isBehind(queued) && reasonToDrop(queued, clock.monotonic()) === undefined);
  const isWorthACommit = () =>
    commitSlots.taken === 0
      ? hasFree(queue, stays, 1)
      : !commitSlots.isFull && hasFree(queue, stays, WORTH_A_COMMIT);
  /** One batch in one turn of the event loop: leases, timers and sockets have theirs before the next. */
  const begin = () => {
    if (!isWorthACommit()) return;
    const decided = decideBatch(parts, waiting.isAwaited, queue, stays);
    for (const queued of decided.unready) prepareAndQueue(queued);
    for (const { queued, waitsFor } of decided.waiting) {
      turns.giveUp(queued.item);
      waiting.wait(queued, waitsFor);
    }
    if (isEmpty(decided.batch)) {
      reply(decided.settled);
      trimMemory();
    } else void commitBatch(decided);
    look();
  };
  /** Batches without anything to commit count too: what their items read was loaded. */
  const trimMemory = () => {
    done += 1;
    if (done % BATCHES_PER_TRIM !== 0 && !states.hasGrown()) return;
    const queued = queue.map(({ item }) => item.deploymentId);
    states.trim(new Set([...uncommitted, ...preparing.keys(), ...queued]));
  };
  const commitBatch = async (decided: DecidedBatch) => {
    for (const id of decided.batch.deployments.keys()) uncommitted.add(id);
    for (const { queued } of decided.settled) queued.stage = 'committing';
    commitSlots.take();
    await commitAndReply(decided);
    commitSlots.release();
    for (const [id, state] of decided.batch.deployments) {
      // A state that was loaded during the commit may have been read before it.
      if (!states.isCurrent(state)) states.forget(id);
      uncommitted.delete(id);
    }
    waiting.release(decided.batch.deployments.keys());
    trimMemory();
    look();
  };
  const look = () => {
    if (isScheduled) return;
    isScheduled = true;
    // Items of the same turn of the event loop share the commit.
    setImmediate(() => {
      isScheduled = false;
      begin();
    });
  };
  return {
    /** Queues a prepared item to be decided. */
    add: (queued: QueuedItem): void => {
      queue.push(queued);
      look();
    },
    /** Items that stayed in the queue may not have to any more. */
    look,
  };
}

function hasFree(
  queue: readonly QueuedItem[],
  stays: (queued: QueuedItem) => boolean,
  count: number,
): boolean {
  let free = 0;
  for (const queued of queue) {
    if (!stays(queued)) free += 1;
    if (free === count) return true;
  }
  return false;
}

/**
 * Commits a batch and replies to the callers of its items:
 *
 *   committing → committed                               replies
 *              → refused: nothing was written            each item again, by the partition's owner
 *              → no answer → proving → written           replies
 *                                    → unwritten         each item again
 *                                    → unclear, stopped  `unavailable`, outcome unknown
 *              → failed: nothing was written             each item again, isolated; or the error
 *
 * Until the outcome of a batch is proven, none of its items is decided again, here or elsewhere. The states in memory of
 * a batch that was not written are forgotten. Never rejects.
 */
function createCommitAndReply(
  { states, lostTails, logger, ...parts }: LaneParts,
  prepareAndQueue: (queued: QueuedItem) => void,
): (decided: DecidedBatch) => Promise<void> {
  const forget = ({ batch }: DecidedBatch) => {
    for (const id of batch.deployments.keys()) states.forget(id);
  };
  const finish = ({ batch, settled }: DecidedBatch) => {
    lostTails.acknowledge(batch);
    parts.onCommitted(batch);
    reply(settled);
  };
  /** Items of partitions that are not held any more are refused with NotOwner while they are prepared. */
  const again = ({ settled }: DecidedBatch) => {
    for (const { queued } of settled) prepareAndQueue(queued);
  };
  const afterRefusal = (decided: DecidedBatch, refusal: Refusal) => {
    const { lost, heads, runs } = refusal;
    if (lost.length > 0) parts.onLost(lost);
    if (heads.length > 0 || runs.length > 0)
      logger.error(
        { heads, runs },
        'journals or runs have changed although their leases are held; the deployments are read again',
      );
    forget(decided);
    again(decided);
  };
  const prove = async (decided: DecidedBatch, error: unknown) => {
    const proof = await parts.recover(decided.batch).catch((reason: unknown) => {
      logger.warn({ err: reason }, 'the outcome of a commit is not proven, so it is unknown');
      return 'unclear' as const;
    });
    if (proof === 'written') return finish(decided);
    forget(decided);
    if (proof === 'unwritten') again(decided);
    else rejectAll(decided.settled, toServiceError(error));
  };
  const afterError = async (decided: DecidedBatch, error: unknown) => {
    const { batch, settled } = decided;
    forget(decided);
    const { kind } = classifyPostgresError(error);
    logger.warn({ err: error, entries: batch.entries.length, kind }, 'a commit failed');
    if (kind === 'unknown_outcome') return prove(decided, error);
    for (const { queued } of settled) {
      if (!ABSENT.has(kind) && isWorthAnother(queued, kind)) prepareAndQueue(queued);
      else queued.reject(toServiceError(error));
    }
  };
  const commit = async (decided: DecidedBatch) => {
    const outcome = await parts.commit(decided.batch).catch((error: unknown) => ({ error }));
    if ('error' in outcome) return afterError(decided, outcome.error);
    return outcome.kind === 'committed' ? finish(decided) : afterRefusal(decided, outcome);
  };
  return (decided) => commit(decided).catch((error: unknown) => rejectAll(decided.settled, error));
}

/** The database can write nothing now: the caller gets the error and may try again. */
const ABSENT: ReadonlySet<PostgresFailure['kind']> = new Set(['unavailable', 'storage_full']);

/**
 * Unique violations of an isolated item after which it is refused with `internal`. A violation usually means that another
 * commit has written the same key since the item was prepared. So the item is prepared again, finds the key, and answers
 * from it. An item that finds nothing violates the constraint each time, and its tries end here.
 */
const MAX_VIOLATIONS = 3;

/** Whether to try an item again, alone, after a commit with it has failed. Marks it as isolated. */
function isWorthAnother(queued: QueuedItem, kind: PostgresFailure['kind']): boolean {
  if (queued.isolated && kind !== 'unique_violation') return false;
  if (queued.isolated) queued.violations += 1;
  queued.isolated = true;
  return queued.violations < MAX_VIOLATIONS;
}

type Settled = DecidedBatch['settled'];

function reply(settled: Settled): void {
  for (const { queued, settlement } of settled) {
    if ('error' in settlement) queued.reject(settlement.error);
    else queued.resolve(settlement.reply);
  }
}

function rejectAll(settled: Settled, error: unknown): void {
  for (const { queued } of settled) queued.reject(error);
}
