import { createMeter, type Logger } from '@orrery/service-kit';
import { lifecycleEntry } from '../../core/deciding/lifecycle-entry.js';
import type { Batch, Effects } from '../../store/commit/batch.js';
import { type HeldPartitions, NotOwner, partitionOf } from '../../store/leases/partitions.js';
import type { DeploymentState, JournalHead } from '../../store/state/deployment-state.js';

/** The deployments that this process has in memory. */
export interface ResidentStates {
  /** The state, from memory or the database; `undefined` for a deployment that does not exist. @throws NotOwner */
  get(deploymentId: number): Promise<DeploymentState | undefined> | DeploymentState | undefined;
  /** The state in memory, if it is there. */
  peek(deploymentId: number): DeploymentState | undefined;
  /** Whether this is still the state to decide against. */
  isCurrent(state: DeploymentState): boolean;
  /** Drops the state in memory, and one that is being read: callers that wait for that get one that is read again. */
  forget(deploymentId: number): void;
  forgetPartition(partition: number): void;
  /** Removes the least recently used states until memory is within its bounds again, but none of `needed`. */
  trim(needed: ReadonlySet<number>): void;
}

interface ResidentLimits {
  /** Bytes that all instances in memory may take, roughly. */
  readonly maxBytes: number;
  readonly maxDeployments: number;
}

type ReadState = (deploymentId: number, epoch: number) => Promise<DeploymentState | undefined>;

export function createResidentStates(
  read: ReadState,
  held: Pick<HeldPartitions, 'epochOf'>,
  limits: ResidentLimits,
): ResidentStates {
  /** In the order of their last use. */
  const states = new Map<number, DeploymentState>();
  const loading = new Map<number, Promise<DeploymentState | undefined>>();

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
    get: (id) => {
      const epoch = epochFor(id);
      const state = states.get(id);
      if (state?.epoch !== epoch) return loadOnce(id);
      states.delete(id);
      states.set(id, state);
      return state;
    },
    peek: (id) => states.get(id),
    isCurrent: (state) => states.get(state.id) === state && held.epochOf(state.partition) === state.epoch,
    forget: (id) => {
      states.delete(id);
      loading.delete(id);
    },
    forgetPartition: (partition) => {
      for (const id of states.keys()) if (partitionOf(id) === partition) states.delete(id);
    },
    trim: (needed) => trim(states, limits, needed),
  };
}

function trim(
  states: Map<number, DeploymentState>,
  { maxBytes, maxDeployments }: ResidentLimits,
  needed: ReadonlySet<number>,
): void {
  let bytes = 0;
  for (const state of states.values()) bytes += state.instances.bytes();
  for (const [id, state] of states) {
    if (bytes <= maxBytes && states.size <= maxDeployments) return;
    if (needed.has(id)) continue;
    bytes -= state.instances.bytes();
    states.delete(id);
  }
}

type JournalEnd = Pick<JournalHead, 'seq' | 'hash'>;

/**
 * Notices that the database has lost entries that it had confirmed to this process: a restore, or a standby that took
 * over without the last commits. The journal's next entry then says so, so that readers who saw the lost entries notice.
 */
export interface LostTails {
  /** The end that the journal had, if this state was read without it. Asks once per state, before it is changed. */
  endLostBy(state: DeploymentState): JournalEnd | undefined;
  /** A batch is known to be committed. */
  acknowledge(batch: Pick<Batch, 'headsBefore' | 'deployments'>): void;
}

interface LostTailsOptions {
  /** Ends of journals that are remembered, those that were used last. */
  readonly maxDeployments: number;
  /** A journal lost its end; so may other tables and sequences. */
  readonly onLost: () => void;
  readonly logger: Logger;
}

export function createLostTails({ maxDeployments, onLost, logger }: LostTailsOptions): LostTails {
  const count = createMeter('runtime').createCounter('orrery_runtime_tails_lost', {
    description: 'Journals that the database came back with although it had confirmed later entries',
  });
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
    endLostBy: (state) => {
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
    acknowledge: ({ headsBefore, deployments }) => {
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
export const tailLost = ({ row }: DeploymentState, { seq, hash }: JournalEnd, now: number): Effects => ({
  entry: lifecycleEntry('tail_lost', row.address, { kind: 'service', service: 'runtime' }, now, {
    seq,
    hash,
  }),
});
