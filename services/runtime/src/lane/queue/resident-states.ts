import { createMeter, type Logger } from '@orrery/service-kit';
import { lifecycleEntry } from '../../core/deciding/lifecycle-entry.js';
import type { Batch } from '../../store/commit/batch.js';
import type { Staged } from '../../store/commit/stage-effects.js';
import { type HeldPartitions, NotOwner, partitionOf } from '../../store/leases/leases.js';
import { type DeploymentState, isPaused, type JournalHead } from '../../store/state/deployment-state.js';
import type { WorkItem } from '../items/work-item.js';

interface ResidentLimits {
  /** Bytes that all instances and answers in memory may take, roughly. */
  readonly maxBytes: number;
  readonly maxDeployments: number;
}

export type ResidentStates = ReturnType<typeof createResidentStates>;

/** Which part of the bound on bytes may be loaded before memory is trimmed. */
const WORTH_A_TRIM = 8;

/** The deployments that this process has in memory. */
export function createResidentStates(
  read: (deploymentId: number, epoch: number) => Promise<DeploymentState | undefined>,
  held: Pick<HeldPartitions, 'epochOf'>,
  limits: ResidentLimits,
) {
  /** In the order of their last use. */
  const states = new Map<number, DeploymentState>();
  const loading = new Map<number, Promise<DeploymentState | undefined>>();
  /** Bytes that were loaded since memory was trimmed, roughly. */
  let grown = 0;

  const load = async (id: number, isWanted: () => boolean): Promise<DeploymentState | undefined> => {
    const epoch = epochFor(id);
    const state = await read(id, epoch);
    if (held.epochOf(partitionOf(id)) !== epoch) throw new NotOwner(partitionOf(id));
    // It was forgotten meanwhile: it may have been read before a commit that is durable by now.
    if (!isWanted()) return loadOnce(id);
    if (state !== undefined) states.set(id, state);
    return state;
  };
  const epochFor = (id: number): number => {
    const epoch = held.epochOf(partitionOf(id));
    if (epoch === undefined) throw new NotOwner(partitionOf(id));
    return epoch;
  };
  const loadOnce = (id: number): Promise<DeploymentState | undefined> => {
    const before = loading.get(id);
    if (before !== undefined) return before;
    const isWanted = () => loading.get(id) === promise;
    const promise = load(id, isWanted).finally(() => isWanted() && loading.delete(id));
    loading.set(id, promise);
    return promise;
  };

  return {
    /** The state, from memory or the database; `undefined` for a deployment that does not exist. @throws NotOwner */
    get: (id: number): Promise<DeploymentState | undefined> | DeploymentState => {
      const epoch = epochFor(id);
      const state = states.get(id);
      if (state?.epoch !== epoch) return loadOnce(id);
      states.delete(id);
      states.set(id, state);
      return state;
    },
    /** The state in memory, if it is there. */
    peek: (id: number): DeploymentState | undefined => states.get(id),
    /** Whether this is still the state to decide against. */
    isCurrent: (state: DeploymentState): boolean =>
      states.get(state.id) === state && held.epochOf(state.partition) === state.epoch,
    /** Drops the state in memory, and one that is being read: callers that wait for that get one that is read again. */
    forget: (id: number): void => {
      states.delete(id);
      loading.delete(id);
    },
    forgetPartition: (partition: number): void => {
      for (const id of states.keys()) if (partitionOf(id) === partition) states.delete(id);
    },
    /** So many bytes of instances were loaded; what was loaded by several items may be counted more than once. */
    grew: (bytes: number): void => {
      grown += Math.max(0, bytes);
    },
    /** Whether so much was loaded that memory is to be trimmed at once. */
    hasGrown: (): boolean => grown > limits.maxBytes / WORTH_A_TRIM,
    /** Removes the least recently used states until memory is within its bounds again, but none of `needed`. */
    trim: (needed: ReadonlySet<number>): void => {
      grown = 0;
      trim(states, limits, needed);
    },
  };
}

function trim(
  states: Map<number, DeploymentState>,
  { maxBytes, maxDeployments }: ResidentLimits,
  needed: ReadonlySet<number>,
): void {
  let bytes = 0;
  for (const state of states.values()) bytes += bytesOf(state);
  for (const [id, state] of states) {
    if (bytes <= maxBytes && states.size <= maxDeployments) return;
    if (needed.has(id)) continue;
    bytes -= bytesOf(state);
    states.delete(id);
    // Items that wait refer to it: to them it is as if it had been read just now, and nothing loaded.
    state.instances.drop();
  }
}

const bytesOf = ({ instances, keys }: DeploymentState): number => instances.bytes() + keys.bytes();

type JournalEnd = Pick<JournalHead, 'seq' | 'hash'>;

interface LostTailsOptions {
  /** Ends of journals that are remembered, those that were used last. */
  readonly maxDeployments: number;
  /** A journal lost its end; so may other tables and sequences. */
  readonly onLost: () => void;
  readonly logger: Logger;
}

export type LostTails = ReturnType<typeof createLostTails>;

/**
 * Notices that the database has lost entries that it had confirmed to this process: a restore, or a standby that took
 * over without the last commits. The journal's next entry then says so, so that readers who saw the lost entries notice.
 */
export function createLostTails({ maxDeployments, onLost, logger }: LostTailsOptions) {
  const count = createMeter('runtime').createCounter('orrery_runtime_tails_lost', {
    description: 'Journals that the database came back with although it had confirmed later entries',
  });
  // Without a zero before, the first loss would be no increase.
  count.add(0);
  const known = new Map<number, JournalEnd>();
  const compared = new WeakSet<DeploymentState>();
  const reported = new WeakSet<JournalEnd>();

  const remember = (id: number, { seq, hash }: JournalEnd) => {
    known.delete(id);
    known.set(id, { seq, hash });
    if (known.size <= maxDeployments) return;
    const [oldest] = known.keys();
    if (oldest !== undefined) known.delete(oldest);
  };
  const report = ({ id, row, head }: DeploymentState, lost: JournalEnd) => {
    if (reported.has(lost)) return;
    reported.add(lost);
    count.add(1);
    const facts = { deployment: row.address, id, lost, found: { seq: head.seq, hash: head.hash } };
    logger.error(facts, 'the database came back without acknowledged entries');
    onLost();
  };
  return {
    /** The end that the journal had, if this state was read without it. Asks once per state, before it is changed. */
    endLostBy: (state: DeploymentState): JournalEnd | undefined => {
      if (compared.has(state)) return undefined;
      compared.add(state);
      const end = known.get(state.id);
      if (end === undefined || !isWithout(state.head, end)) {
        remember(state.id, state.head);
        return undefined;
      }
      report(state, end);
      return end;
    },
    /** A batch is known to be committed. */
    acknowledge: ({ headsBefore, deployments }: Pick<Batch, 'headsBefore' | 'deployments'>): void => {
      for (const id of headsBefore.keys()) {
        const state = deployments.get(id);
        if (state !== undefined) remember(id, state.head);
      }
    },
  };
}

/** Journals only grow, so a shorter one has lost entries, and so has one that ends otherwise. */
const isWithout = (found: JournalEnd, end: JournalEnd): boolean =>
  found.seq < end.seq || (found.seq === end.seq && found.hash !== end.hash);

/** The entry that says which end of the journal was lost. */
export const tailLost = ({ row }: DeploymentState, { seq, hash }: JournalEnd, now: number): Staged => {
  const caller = { kind: 'service', service: 'runtime' } as const;
  const entry = lifecycleEntry('tail_lost', row.address, caller, now, { seq, hash });
  // What was lost may have revealed the secret that is in use.
  const randomness = row.randomness && { randomness: { ...row.randomness, hasCurrent: false } };
  return {
    effects: { entry, ...(randomness && { row: randomness }) },
    answer: () => ({ reply: undefined }),
  };
};

/**
 * The places of follow-ups without delay: other items of the deployment stay behind the first of them. One that gives its
 * place up is passed over until it has left its lane: a state that is read again has it at its place once more.
 */
export function createTurns({ isCurrent, peek }: Pick<ResidentStates, 'isCurrent' | 'peek'>) {
  const givenUp = new Set<string>();
  return {
    /** Whether a follow-up is to be decided before it. While the deployment is paused none is executed, so nothing waits for it. */
    isBehind: ({ item, state }: Prepared): boolean => {
      if (state === undefined || state.timers.next.size === 0) return false;
      const first = state.timers.next.keys().find((turn) => !givenUp.has(turn));
      if (first === undefined || first === item.turn) return false;
      return !isPaused(state.row) && isCurrent(state);
    },
    giveUp: ({ deploymentId, turn }: WorkItem<unknown>): void => {
      if (turn === undefined) return;
      givenUp.add(turn);
      peek(deploymentId)?.timers.next.delete(turn);
    },
    /** It has left its lane. */
    left: ({ turn }: WorkItem<unknown>): void => {
      if (turn !== undefined) givenUp.delete(turn);
    },
  };
}

export type Turns = ReturnType<typeof createTurns>;

/** An item, and the state that it was prepared against. */
interface Prepared {
  readonly item: Pick<WorkItem<unknown>, 'turn'>;
  readonly state: DeploymentState | undefined;
}
