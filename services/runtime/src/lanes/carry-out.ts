import { classifyPostgresError, toServiceError } from '@orrery/database';
import type { Logger } from '@orrery/service-kit';
import type { CommitBatch } from '../commit/commit-batch.js';
import type { Recover } from '../commit/recover-commit.js';
import type { Lease } from '../ownership/lease-store.js';
import { NotOwner } from '../ownership/not-owner.js';
import { partitionOf } from '../ownership/partition.js';
import type { Batch } from '../state/batch.js';
import type { ResidentStates } from '../state/resident-states.js';
import type { DecidedBatch } from './decide-batch.js';
import type { QueuedItem } from './queued-item.js';

export interface CarryOutDependencies {
  readonly states: Pick<ResidentStates, 'forget'>;
  readonly commit: CommitBatch;
  /** Finds out what became of a commit whose answer was lost. */
  readonly recover: Recover;
  /** After each commit, once it is known to have been made: for instance to wake the relay. */
  readonly onCommitted: (batch: Batch) => void;
  /** A commit found that some of these leases are not held any more. */
  readonly onLost: (leases: readonly Lease[]) => void;
  readonly logger: Logger;
}

/**
 * Commits what was decided and tells those who wait. What may be tried again goes to `enter`; of what was not written
 * nothing is remembered. Never rejects.
 */
export function createCarryOut(
  { states, logger, ...dependencies }: CarryOutDependencies,
  enter: (queued: QueuedItem) => void,
): (decided: DecidedBatch) => Promise<void> {
  /** Nothing was written, and others own some of the deployments now. */
  const disown = ({ batch, settled }: DecidedBatch) => {
    dependencies.onLost([...batch.leases.values()]);
    for (const { queued } of settled) queued.reject(new NotOwner(partitionOf(queued.item.deploymentId)));
  };
  const finish = ({ batch, settled }: DecidedBatch) => {
    dependencies.onCommitted(batch);
    settleAll(settled);
  };
  const recoverFrom = async (error: unknown, decided: DecidedBatch) => {
    const { batch, settled } = decided;
    for (const id of batch.deployments.keys()) states.forget(id);
    const { kind } = classifyPostgresError(error);
    logger.warn({ err: error, entries: batch.entries.length, kind }, 'a commit failed');
    if (kind === 'unknown_outcome') {
      const written = await dependencies.recover(batch).catch(() => undefined);
      if (written === undefined) return rejectAll(settled, toServiceError(error));
      if (written) return finish(decided);
      for (const { queued } of settled) enter(queued);
      return;
    }
    for (const { queued } of settled) {
      const again = kind !== 'unavailable' && !queued.alone;
      if (again || kind === 'unique_violation') enter(Object.assign(queued, { alone: true }));
      else queued.reject(toServiceError(error));
    }
  };
  const commit = async (decided: DecidedBatch) => {
    try {
      if ((await dependencies.commit(decided.batch)) === 'lost') return disown(decided);
      finish(decided);
    } catch (error) {
      await recoverFrom(error, decided);
    }
  };
  return (decided) => commit(decided).catch((error: unknown) => rejectAll(decided.settled, error));
}

type Settled = DecidedBatch['settled'];

export function settleAll(settled: Settled): void {
  for (const { queued, settlement } of settled) {
    if ('error' in settlement) queued.reject(settlement.error);
    else queued.resolve(settlement.reply);
  }
}

function rejectAll(settled: Settled, error: unknown): void {
  for (const { queued } of settled) queued.reject(error);
}
