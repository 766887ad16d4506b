import { classifyPostgresError, type PostgresFailure, toServiceError } from '@orrery/database';
import type { Logger, Semaphore } from '@orrery/service-kit';
import { type Batch, isEmpty } from '../../store/commit/batch.js';
import type { CommitBatch, Refusal } from '../../store/commit/commit-statement.js';
import type { Recover } from '../../store/commit/recovery.js';
import type { Lease } from '../../store/leases/partitions.js';
import { type DecideDependencies, type DecidedBatch, decideBatch } from './decide-batch.js';
import type { QueuedItem, WaitsFor } from './queued-items.js';
import type { LostTails, ResidentStates } from './resident-states.js';

/** Start another commit beside a running one only for at least this many items; fewer wait for the running one. */
const WORTH_A_COMMIT = 8;
const BATCHES_PER_TRIM = 64;

export interface CommitDependencies {
  readonly states: Pick<ResidentStates, 'forget'>;
  readonly lostTails: Pick<LostTails, 'acknowledge'>;
  readonly commit: CommitBatch;
  /** Proves whether a commit whose answer was lost was written. */
  readonly recover: Recover;
  /** Runs after each commit, once the commit is known to be durable. */
  readonly onCommitted: (batch: Batch) => void;
  /** A commit found that these leases are not held any more. */
  readonly onLost: (leases: readonly Lease[]) => void;
  readonly logger: Logger;
}

interface BatchesDependencies extends DecideDependencies, CommitDependencies {
  readonly states: ResidentStates;
  readonly lostTails: LostTails;
  /** Bounds the commits in flight. */
  readonly commitSlots: Semaphore;
  /** Prepares an item again, then queues it to be decided. */
  readonly prepareAndQueue: (queued: QueuedItem) => void;
  /** Keeps an item until a run releases what the item waits for. */
  readonly waitForRun: (queued: QueuedItem, waitsFor: WaitsFor) => void;
  /** The commit of a batch has ended, with whatever outcome. */
  readonly onDone: (decided: DecidedBatch) => void;
}

/**
 * Decides and commits prepared items in batches: those that were queued since the last batch began. A few batches are in
 * flight at once, never two of the same deployment: its items wait for the end of the batch that it is in.
 *
 * @returns a function that queues a prepared item to be decided.
 */
export function createBatches(dependencies: BatchesDependencies): (queued: QueuedItem) => void {
  const { states, commitSlots, prepareAndQueue, waitForRun, onDone } = dependencies;
  const commitAndReply = createCommitAndReply(dependencies, prepareAndQueue);
  const queue: QueuedItem[] = [];
  /** Deployments in batches that are being committed. */
  const uncommitted = new Set<number>();
  let done = 0;
  let isScheduled = false;

  const isWorthACommit = () =>
    commitSlots.taken === 0
      ? queue.length > 0
      : !commitSlots.isFull && hasFree(queue, uncommitted, WORTH_A_COMMIT);
  const begin = () => {
    while (isWorthACommit()) {
      const decided = decideBatch(dependencies, queue, uncommitted);
      for (const queued of decided.unready) prepareAndQueue(queued);
      for (const { queued, waitsFor } of decided.waiting) waitForRun(queued, waitsFor);
      if (isEmpty(decided.batch)) reply(decided.settled);
      else void commitBatch(decided);
    }
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
    onDone(decided);
    done += 1;
    if (done % BATCHES_PER_TRIM === 0) states.trim(uncommitted);
    begin();
  };
  return (queued) => {
    queue.push(queued);
    if (isScheduled) return;
    isScheduled = true;
    // Items of the same turn of the event loop share the commit.
    setImmediate(() => {
      isScheduled = false;
      begin();
    });
  };
}

function hasFree(queue: readonly QueuedItem[], uncommitted: ReadonlySet<number>, count: number): boolean {
  let free = 0;
  for (const { item } of queue) {
    if (!uncommitted.has(item.deploymentId)) free += 1;
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
  { states, lostTails, logger, ...dependencies }: CommitDependencies,
  prepareAndQueue: (queued: QueuedItem) => void,
): (decided: DecidedBatch) => Promise<void> {
  const forget = ({ batch }: DecidedBatch) => {
    for (const id of batch.deployments.keys()) states.forget(id);
  };
  const finish = ({ batch, settled }: DecidedBatch) => {
    lostTails.acknowledge(batch);
    dependencies.onCommitted(batch);
    reply(settled);
  };
  /** Items of partitions that are not held any more are refused with NotOwner while they are prepared. */
  const again = ({ settled }: DecidedBatch) => {
    for (const { queued } of settled) prepareAndQueue(queued);
  };
  const afterRefusal = (decided: DecidedBatch, refusal: Refusal) => {
    const { lost, heads, runs } = refusal;
    if (lost.length > 0) dependencies.onLost(lost);
    if (heads.length > 0 || runs.length > 0)
      logger.error(
        { heads, runs },
        'journals or runs have changed although their leases are held; the deployments are read again',
      );
    forget(decided);
    again(decided);
  };
  const prove = async (decided: DecidedBatch, error: unknown) => {
    const proof = await dependencies.recover(decided.batch).catch((reason: unknown) => {
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
    const outcome = await dependencies.commit(decided.batch).catch((error: unknown) => ({ error }));
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
