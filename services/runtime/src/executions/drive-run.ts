import { asServiceError, ServiceError } from '@orrery/contracts';
import type { Logger } from '@orrery/service-kit';
import type { Db } from '../database/db.js';
import { NotOwner } from '../ownership/partitions.js';
import { DeciderFailed } from './decider.js';
import { hasEnded, type RunRow, readRun } from './run-row.js';
import { failItem, type StepDependencies, stepOf } from './run-steps.js';

export interface DriveDependencies extends StepDependencies {
  readonly db: Db;
  readonly logger: Logger;
}

/** The pause before a step that led nowhere is tried again, in milliseconds. */
const RETRY_MS = 200;

/**
 * Takes a run from the state in its row to its end, step by step. @throws NotOwner, or the signal's reason, when the
 * deployment is not owned here any more; another owner continues then
 */
export async function driveRun(
  dependencies: DriveDependencies,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  const { db, clock } = dependencies;
  for (let before: string | undefined; ; ) {
    const row = await readRun(db, id);
    const step = row && stepOf(row);
    if (row === undefined || step === undefined) return;
    const position = `${row.state} ${row.attempts}`;
    if (position === before) await clock.sleep(RETRY_MS, signal);
    before = position;
    signal.throwIfAborted();
    try {
      if (clock.now() >= row.deadline.getTime()) throw new ServiceError('deadline_exceeded');
      await step(dependencies, row, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof NotOwner) throw error;
      await afterFailure(dependencies, id, signal, error);
    }
  }
}

/** Errors of a step that end the run; others may pass, so the step is tried again. */
const FINAL_ERRORS: ReadonlySet<string> = new Set(['deadline_exceeded', 'write_conflict']);

async function afterFailure(
  dependencies: DriveDependencies,
  id: string,
  signal: AbortSignal,
  error: unknown,
): Promise<void> {
  const { db, lanes, clock, logger } = dependencies;
  const row = await readRun(db, id);
  if (row === undefined || hasEnded(row)) return;
  const reason = asServiceError(error instanceof DeciderFailed ? error.cause : error);
  if (reason.code === 'internal') logger.error({ err: reason, run: id }, 'a step of a run failed');
  if (reason.code === 'deployment_not_found') return endOrphan(db, row, clock.now());
  const isFinal = error instanceof DeciderFailed || FINAL_ERRORS.has(reason.code);
  if (isFinal || clock.now() >= row.deadline.getTime()) {
    await lanes.submit(failItem(dependencies, row, signal, reason)).catch(unlessNotOwner);
  }
}

/** The item rejects with the run's own error once that is recorded; the row shows whether it is. */
function unlessNotOwner(error: unknown): undefined {
  if (error instanceof NotOwner) throw error;
}

/** Ends a run of a deleted deployment, which has no lane any more. */
async function endOrphan(db: Db, { id }: RunRow, now: number): Promise<void> {
  const error = {
    code: 'deployment_not_found',
    detail: 'The deployment was deleted.',
    errors: [],
    facts: {},
  };
  await db
    .updateTable('runs')
    .set({ state: 'failed', ended_at: new Date(now), error: JSON.stringify(error) as never })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .execute();
}
