import { createMeter, type Logger } from '@orrery/service-kit';
import { lifecycleEntry } from '../execution/lifecycle-entry.js';
import type { Batch } from '../state/batch.js';
import type { DeploymentState, JournalHead } from '../state/deployment-state.js';
import type { Effects } from '../state/effects.js';

/** The last entry of a journal. */
export type JournalEnd = Pick<JournalHead, 'seq' | 'hash'>;

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

export interface LostTailsOptions {
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
