import { MOST_IN_TREE, MOST_TIMERS, ServiceError } from '@orrery/contracts';
import { type PlannedFollowUp, type SealedEntry, timerIdOf } from '@orrery/deciding';
import { type DeploymentState, isPaused } from '../state/deployment-state.js';
import type { TimerName } from '../state/pending-timers.js';
import type { TimerRow } from '../state/timer-store.js';
import { type Batch, newTimerWrites, type TimerWrites } from './batch.js';
import type { TimerEffects, TimerMove } from './effects.js';

const PENDING = 'timers';
const sizeOf = (tree: number): string => `tree_${tree}`;
const openOf = (tree: number): string => `tree_${tree}_open`;

type Totals = Readonly<Record<string, number>>;

/** How many executions a tree has, those that are set included. It begins with one that is no follow-up. */
export const treeSize = (totals: Totals, tree: number | null): number =>
  tree === null ? 1 : (totals[sizeOf(tree)] ?? 1);

type KeptTimers = Pick<DeploymentState, 'timers'>;

const namedBy = (planned: readonly PlannedFollowUp[]): string[] =>
  planned.flatMap((one) => ('cancel' in one ? one.cancel : (one.key ?? [])));

/** The keys that a plan names and that are not in memory. */
export const unknownKeys = (
  { timers }: KeptTimers,
  planned: readonly PlannedFollowUp[],
): readonly string[] => [...new Set(namedBy(planned).filter((key) => timers.withKey(key) === undefined))];

/**
 * The keys that have to be in memory for a plan, if there are any that are not.
 * @throws `too_many_timers`, `follow_up_too_deep` for what may not be set
 */
export function checkPlan(
  { timers, head: { totals } }: KeptTimers & Pick<DeploymentState, 'head'>,
  planned: readonly PlannedFollowUp[],
  { tree = null, ends = 0 }: { readonly tree?: number | null | undefined; readonly ends?: 0 | 1 } = {},
): readonly string[] {
  const unknown = unknownKeys({ timers }, planned);
  if (unknown.length > 0) return unknown;
  const named = namedBy(planned);
  const set = planned.filter((one) => 'event' in one);
  const replaced = new Set(named.filter((key) => timers.withKey(key) !== null)).size;
  const repeated = set.filter(
    ({ key }, at) => key !== null && set.findIndex((one) => one.key === key) < at,
  ).length;
  const pending = (totals[PENDING] ?? 0) - ends - replaced - repeated + set.length;
  if (set.length > 0 && pending > MOST_TIMERS) throw tooMany();
  const next = set.filter(({ isNext }) => isNext).length;
  if (next > 0 && treeSize(totals, tree) + next > MOST_IN_TREE + 1) throw tooDeep();
  return [];
}

const tooMany = () =>
  new ServiceError('too_many_timers', `A deployment has at most ${MOST_TIMERS} pending timers.`, {
    facts: { limit: MOST_TIMERS },
  });

/** A follow-up without delay that its tree has no room for any more. */
export const tooDeep = (): ServiceError =>
  new ServiceError(
    'follow_up_too_deep',
    `At most ${MOST_IN_TREE} executions follow each other without delay. Give one of the follow-ups a delay.`,
    { facts: { limit: MOST_IN_TREE } },
  );

/** Takes the timers that an item sets, replaces, cancels and ends into the batch and the state. */
export function stageTimers(
  batch: Batch,
  state: DeploymentState,
  { planned, caller, depth, ended }: TimerEffects,
  entry: SealedEntry,
): number {
  const staging = new Staging(batch, state);
  const tree = ended?.tree ?? entry.seq;
  if (ended !== undefined) staging.remove(ended, ended.runId);
  planned.forEach((one, index) => {
    const key = 'cancel' in one ? one.cancel : one.key;
    const before = key === null ? null : state.timers.withKey(key);
    if (before) staging.remove(before, null);
    if ('cancel' in one) return;
    staging.add({
      id: timerIdOf(entry.id, index),
      deployment_id: state.id,
      event: one.event,
      input: one.input,
      due_at: new Date(one.dueAt).toISOString(),
      key: one.key,
      caller,
      set_seq: entry.seq,
      set_index: index,
      depth,
      tree: one.isNext ? tree : null,
      run_id: null,
    });
  });
  return staging.end(tree);
}

/** The changes of one item: rows, what is in memory, and the counters. */
class Staging {
  readonly #writes: TimerWrites;
  readonly #state: DeploymentState;
  readonly #totals: Record<string, number>;
  #rows = 1;

  constructor(batch: Batch, state: DeploymentState) {
    this.#writes = writesOf(batch, state);
    this.#state = state;
    this.#totals = { ...state.head.totals };
  }

  remove(timer: TimerName, runId: string | null): void {
    this.#rows += 1;
    if (!this.#writes.set.delete(timer.id))
      this.#writes.moved.set(timer.id, { was: runId, now: null, gone: true });
    this.#state.timers.remove(timer);
    this.#count(PENDING, -1);
    if (timer.tree !== null) this.#count(openOf(timer.tree), -1);
  }

  add(row: Omit<TimerRow, 'number'>): void {
    this.#rows += 1;
    let number: number | null = null;
    if (row.tree !== null) {
      number = treeSize(this.#totals, row.tree) + 1;
      this.#totals[sizeOf(row.tree)] = number;
      this.#count(openOf(row.tree), 1);
    }
    this.#writes.set.set(row.id, { ...row, number });
    this.#state.timers.add(row);
    this.#count(PENDING, 1);
  }

  /** Stores the counters; those of a tree that has ended are dropped. Answers how many rows are written. */
  end(tree: number): number {
    if (this.#totals[openOf(tree)] === undefined) delete this.#totals[sizeOf(tree)];
    this.#state.head = { ...this.#state.head, totals: this.#totals };
    return this.#rows;
  }

  #count(name: string, by: number): void {
    const count = (this.#totals[name] ?? 0) + by;
    if (count > 0) this.#totals[name] = count;
    else delete this.#totals[name];
  }
}

function writesOf(batch: Batch, { id, partition }: DeploymentState): TimerWrites {
  const writes = batch.timers.get(id) ?? newTimerWrites(partition);
  batch.timers.set(id, writes);
  return writes;
}

export function stageTimerMove(batch: Batch, state: DeploymentState, move: TimerMove): void {
  const { timer, runId, isTaken, dueAt } = move;
  const writes = writesOf(batch, state);
  if (isTaken) state.timers.remove(timer);
  else state.timers.restore(timer.id);
  writes.moved.set(
    timer.id,
    isTaken ? { was: null, now: runId, gone: false } : { was: runId, now: null, gone: false, dueAt },
  );
}

/** Whether timers of the deployment are pending. */
export const hasTimers = ({ head: { totals } }: Pick<DeploymentState, 'head'>): boolean =>
  (totals[PENDING] ?? 0) > 0;

/** A deletion cancels all timers. After a pause what is due is looked for again. */
export function stageAllTimers(batch: Batch, state: DeploymentState): void {
  if (!hasTimers(state)) return;
  if (state.row.deleted_at !== null) writesOf(batch, state).areCancelled = true;
  else if (!isPaused(state.row)) writesOf(batch, state);
}
