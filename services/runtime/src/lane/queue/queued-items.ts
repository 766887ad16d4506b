import { ServiceError } from '@orrery/contracts';
import { MAX_READ, MAX_SEARCHED, MAX_SEARCHED_BYTES } from '@orrery/deciding';
import type { Clock, KeyedMutex, Logger, Semaphore } from '@orrery/service-kit';
import type { Batch } from '../../store/commit/batch.js';
import type { CommitBatch } from '../../store/commit/commit-statement.js';
import type { Recover } from '../../store/commit/recovery.js';
import type { JournalForm } from '../../store/journal/journal-form.js';
import { type Lease, NotOwner, partitionOf } from '../../store/leases/leases.js';
import { type DeploymentState, type HoldName, WHAT_RUNS } from '../../store/state/deployment-state.js';
import type { IdBlocks } from '../../store/state/id-blocks.js';
import type { InstanceLoader } from '../../store/state/load-state.js';
import type { CatalogClient } from '../catalog/catalog-client.js';
import type { ItemNeeds, WorkItem } from '../items/work-item.js';
import type { LostTails, ResidentStates } from './resident-states.js';

/** An item in its lane, with its progress and the callbacks that answer its caller. */
export interface QueuedItem {
  readonly item: WorkItem<unknown>;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Of the request, if it is recorded. */
  readonly trace: string | undefined;
  /**
   * `committing`: it was decided, and its batch is being committed. `released`: its caller was sent to another owner, so
   * it is never decided here.
   */
  stage: 'undecided' | 'committing' | 'released';
  /** What was missing when it was last decided. */
  needs: ItemNeeds | undefined;
  /** The deployment's state that it was prepared against. */
  state: DeploymentState | undefined;
  /** A batch with it failed: it is committed alone, so that it cannot make other items fail. */
  isolated: boolean;
  /** How often it broke a unique constraint when it was committed alone. */
  violations: number;
  /** How often it has been prepared since it was submitted or last waited. */
  preparations: number;
}

/** An item that is not ready after this many preparations is refused: it may never become ready. */
const MAX_PREPARATIONS = 50;

/**
 * Why an item is refused undecided: another process owns it, its caller waits no longer, or it does not become ready. `at`
 * by the monotonic clock.
 */
export function reasonToDrop({ item, preparations, stage }: QueuedItem, at: number): Error | undefined {
  if (stage === 'released') return new NotOwner(partitionOf(item.deploymentId));
  if (item.signal.aborted) return abortReason(item.signal);
  if (at >= item.deadline) return new ServiceError('deadline_exceeded');
  if (preparations > MAX_PREPARATIONS)
    return new ServiceError('overloaded', 'The deployment changes too fast to decide.');
  return undefined;
}

const abortReason = ({ reason }: AbortSignal): ServiceError =>
  reason instanceof ServiceError
    ? reason
    : new ServiceError('deadline_exceeded', undefined, { cause: reason });

/** What the lanes work with. */
export interface LaneParts {
  readonly states: ResidentStates;
  readonly instances: InstanceLoader;
  readonly ids: IdBlocks;
  readonly lostTails: LostTails;
  readonly journalForm: Pick<JournalForm, 'version'>;
  /** Reads into memory which timers are pending under keys. */
  readonly loadTimerKeys: (state: DeploymentState, keys: readonly string[]) => Promise<void>;
  readonly claimSchemas: CatalogClient['claimSchemas'];
  /** Claims and releases run one at a time per deployment. */
  readonly claimMutex: KeyedMutex;
  /** Bounds the commits in flight. */
  readonly commitSlots: Semaphore;
  readonly commit: CommitBatch;
  /** Proves whether a commit whose answer was lost was written. */
  readonly recover: Recover;
  /** Runs after each commit, once the commit is known to be durable. */
  readonly onCommitted: (batch: Batch) => void;
  /** A commit found that these leases are not held any more. */
  readonly onLost: (leases: readonly Lease[]) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Loads into memory what an item needs; items are prepared concurrently. `giveUp`: it cannot be decided before others.
 * @throws NotOwner, `deployment_not_found`
 */
export async function prepareItem(parts: LaneParts, queued: QueuedItem, giveUp: () => void): Promise<void> {
  const state = await parts.states.get(queued.item.deploymentId);
  if (state === undefined || state.row.deleted_at !== null) throw new ServiceError('deployment_not_found');
  const { needs } = queued;
  if (needs !== undefined && queued.state === state)
    await Promise.all([
      fetchNeeds(parts, state, needs),
      needs.claims && claim(parts, state, needs.claims, giveUp),
    ]);
  else await queued.item.prepare(state);
  queued.needs = undefined;
  queued.state = state;
  queued.preparations += 1;
}

/** Earlier preparations against the same state stay valid: only the missing parts are fetched. */
async function fetchNeeds(
  { states, instances, ids, loadTimerKeys }: LaneParts,
  state: DeploymentState,
  needs: ItemNeeds,
): Promise<void> {
  const before = state.instances.bytes();
  await Promise.all([
    ...(needs.instances ?? []).map((name) => instances.loadOne(state.id, state.instances, name)),
    loadSchemas(instances, state, needs),
    needs.history && instances.loadHistory(state.id, state.instances, needs.history, state.head.seq),
    needs.ids === undefined ? undefined : ids.refill(needs.ids),
    needs.timerKeys && loadTimerKeys(state, needs.timerKeys),
  ]);
  states.grew(state.instances.bytes() - before);
}

/**
 * One schema after the other, up to what one execution may bring into memory: it fails with what is loaded by then, before
 * the next is read. (docs/queries.md)
 */
async function loadSchemas(
  instances: InstanceLoader,
  { id, instances: memory }: DeploymentState,
  { schemas = [], searched = [] }: ItemNeeds,
): Promise<void> {
  let left = MAX_SEARCHED_BYTES;
  const load = async (names: readonly string[], most: number) => {
    for (const schema of names) if (left >= 0) left -= await instances.loadSchema(id, memory, schema, most);
  };
  await load(schemas, MAX_READ);
  await load(searched, MAX_SEARCHED);
}

/** Who holds the mutex may have an item that stays behind this one, so it gives its place up rather than waits for that. */
async function claim(
  { claimSchemas, claimMutex }: LaneParts,
  state: DeploymentState,
  names: readonly string[],
  giveUp: () => void,
): Promise<void> {
  let isOurs = false;
  const claimed = claimMutex.run(state.id, () => {
    isOurs = true;
    return claimAll(claimSchemas, state, names);
  });
  // A mutex that is free runs its work within this turn of the event loop.
  setImmediate(() => isOurs || giveUp());
  await claimed;
}

async function claimAll(
  claimSchemas: LaneParts['claimSchemas'],
  state: DeploymentState,
  names: readonly string[],
): Promise<void> {
  const missing = names.filter((name) => !state.claimedSchemas.has(name));
  const claimed = missing.length === 0 ? [] : await claimSchemas(state.row, missing);
  for (const { name, id, revision } of claimed)
    state.claimedSchemas.set(name, { schemaId: id, revision, committed: false });
}

/** What an item waits for, and whether it is then going to hold it: only one item can. */
export interface WaitsFor {
  readonly name: HoldName;
  readonly toHold: boolean;
}

/** An item is refused this long before its deadline, so that the answer still arrives; at most a tenth of the time left. */
const MARGIN_MS = 250;

interface Waiter {
  readonly queued: QueuedItem;
  readonly toHold: boolean;
  /** Items are queued in the order in which they first waited. */
  readonly position: number;
  readonly timer: AbortController;
}

interface Queue {
  readonly deploymentId: number;
  readonly name: HoldName;
  readonly waiters: Waiter[];
  called: QueuedItem | undefined;
}

const stillHeld = (name: HoldName): ServiceError =>
  new ServiceError(
    'write_conflict',
    name === WHAT_RUNS ? 'A payment is being settled: try again.' : undefined,
  );

/**
 * Items that wait until a run releases what it holds, by what they wait for. After a release the next items are prepared
 * and queued again: those that only pass, up to and including the first that is going to hold it. That one is *called*:
 * until it has been settled or waits again, no other item is called for the same. Then, unless it holds what it was
 * called for, the next is called. So each release queues a few items, however many wait, and as long as no run holds what
 * an item waits for, another item is called for it.
 */
export function createWaitingItems(
  clock: Clock,
  prepareAndQueue: (queued: QueuedItem) => void,
  /** Whether a run holds it now; false when the deployment is deleted or not in memory. */
  isHeld: (deploymentId: number, name: HoldName) => boolean,
) {
  const queues = new Map<number, Map<HoldName, Queue>>();
  const positions = new WeakMap<QueuedItem, number>();
  const calledFor = new WeakMap<QueuedItem, Queue>();
  const passing = createPassingItems();
  let nextPosition = 0;

  const queueOf = (deploymentId: number, name: HoldName): Queue => {
    const ofDeployment = queues.get(deploymentId) ?? new Map<HoldName, Queue>();
    queues.set(deploymentId, ofDeployment);
    const queue = ofDeployment.get(name) ?? { deploymentId, name, waiters: [], called: undefined };
    ofDeployment.set(name, queue);
    return queue;
  };
  const dropIfEmpty = (queue: Queue) => {
    const { deploymentId, name, waiters, called } = queue;
    const ofDeployment = queues.get(deploymentId);
    if (waiters.length > 0 || called !== undefined || ofDeployment?.get(name) !== queue) return;
    ofDeployment?.delete(name);
    if (ofDeployment?.size === 0) queues.delete(deploymentId);
  };
  const queueFirst = (queue: Queue) => {
    const waiter = queue.waiters.shift();
    if (waiter === undefined) return;
    waiter.timer.abort();
    if (waiter.toHold) {
      queue.called = waiter.queued;
      calledFor.set(waiter.queued, queue);
    }
    prepareAndQueue(waiter.queued);
  };
  const callNext = (queue: Queue) => {
    if (queue.called === undefined && !isHeld(queue.deploymentId, queue.name))
      while (queue.waiters.length > 0 && queue.called === undefined) queueFirst(queue);
    dropIfEmpty(queue);
  };
  const endCall = (queued: QueuedItem) => {
    const queue = calledFor.get(queued);
    if (queue === undefined) return;
    calledFor.delete(queued);
    queue.called = undefined;
    callNext(queue);
  };
  const callAll = (deploymentId: number) => {
    for (const queue of [...(queues.get(deploymentId)?.values() ?? [])]) callNext(queue);
  };
  const refuse = (queue: Queue, waiter: Waiter) => {
    const index = queue.waiters.indexOf(waiter);
    if (index < 0) return;
    queue.waiters.splice(index, 1);
    dropIfEmpty(queue);
    const { signal } = waiter.queued.item;
    waiter.queued.reject(signal.aborted ? abortReason(signal) : stillHeld(queue.name));
  };
  const startTimer = (queue: Queue, waiter: Waiter) => {
    const { deadline, signal } = waiter.queued.item;
    const left = Math.max(0, deadline - clock.monotonic());
    const either = AbortSignal.any([waiter.timer.signal, signal]);
    const refuseIt = () => refuse(queue, waiter);
    clock.sleep(left - Math.min(MARGIN_MS, left / 10), either).then(refuseIt, refuseIt);
  };

  return {
    /** An item has been settled. */
    settled: (queued: QueuedItem): void => {
      endCall(queued);
      // What waited behind it has its turn.
      if (passing.leave(queued)) callAll(queued.item.deploymentId);
    },
    /** Whether an item waits for this to change it, or was called for it and has not been settled since. */
    isAwaited: passing.any,
    /** The item waits, at its old position if it has waited before; shortly before its deadline it gets `write_conflict`. */
    wait: (queued: QueuedItem, { name, toHold }: WaitsFor): void => {
      const position = positions.get(queued) ?? nextPosition;
      if (position === nextPosition) nextPosition += 1;
      positions.set(queued, position);
      queued.preparations = 0;
      const queue = queueOf(queued.item.deploymentId, name);
      const waiter: Waiter = { queued, toHold, position, timer: new AbortController() };
      insert(queue.waiters, waiter);
      startTimer(queue, waiter);
      const isLast = passing.leave(queued);
      if (!toHold) passing.enter(queued, name);
      endCall(queued);
      if (isLast) callAll(queued.item.deploymentId);
      queued.item.onWait?.();
    },
    /** Queues items of these deployments that wait for what is not held any more. */
    release: (deploymentIds: Iterable<number>): void => {
      for (const id of new Set(deploymentIds)) callAll(id);
    },
    /** Queues all items of these partitions, so that they find that another process owns them. */
    releasePartitions: (partitions: readonly number[]): void => {
      for (const [id, ofDeployment] of [...queues]) {
        if (!partitions.includes(partitionOf(id))) continue;
        for (const queue of [...ofDeployment.values()]) {
          for (const { queued, timer } of queue.waiters.splice(0)) {
            timer.abort();
            prepareAndQueue(queued);
          }
          dropIfEmpty(queue);
        }
      }
    },
  };
}

export type WaitingItems = ReturnType<typeof createWaitingItems>;

/** The items that wait for a name without being going to hold it, from their first wait until they are settled. */
function createPassingItems() {
  const names = new WeakMap<QueuedItem, string>();
  const counts = new Map<string, number>();
  const nameFor = (deploymentId: number, name: HoldName) => `${deploymentId} ${name}`;
  return {
    enter: (queued: QueuedItem, name: HoldName) => {
      const full = nameFor(queued.item.deploymentId, name);
      names.set(queued, full);
      counts.set(full, (counts.get(full) ?? 0) + 1);
    },
    /** Whether it was the last one for its name. */
    leave: (queued: QueuedItem): boolean => {
      const full = names.get(queued);
      if (full === undefined) return false;
      names.delete(queued);
      const left = (counts.get(full) ?? 1) - 1;
      if (left > 0) counts.set(full, left);
      else counts.delete(full);
      return left === 0;
    },
    any: (deploymentId: number, name: HoldName): boolean => counts.has(nameFor(deploymentId, name)),
  };
}

function insert(waiters: Waiter[], waiter: Waiter): void {
  let index = waiters.length;
  while (index > 0 && (waiters[index - 1]?.position ?? 0) > waiter.position) index -= 1;
  waiters.splice(index, 0, waiter);
}
