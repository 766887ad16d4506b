import { ServiceError } from '@orrery/contracts';
import { toCallError } from '@orrery/database';
import { type Backoff, backoffDelay, type Logger, retry } from '@orrery/service-kit';
import type { Db } from '../database/db.js';
import { DeciderFailed } from '../models/decider.js';
import { releaseKeysOf } from '../once/once-store.js';
import { NotOwner } from '../ownership/partitions.js';
import { releaseReservation } from '../payments/payment-store.js';
import { awaitsPayment } from '../state/load-state.js';
import { type Ending, failItem, refuseItem } from './fail-run.js';
import { evidenceOfRun } from './run-evidence.js';
import { endOf, type RunRow, readRun } from './run-row.js';
import { type Drive, type Step, type StepDependencies, stepOf } from './run-steps.js';

export interface DriveDependencies extends StepDependencies {
  readonly logger: Logger;
}

/** The pause before a step that led nowhere is tried again. */
const PAUSE: Backoff = { baseMs: 100, maxMs: 2000 };
/** Tries of a step that fails for another reason than a service that is away for a while. */
const MAX_TRIES = 3;
const NOT_STORED = new ServiceError('internal', 'The outcome could not be stored.');

/**
 * Takes a run from the state in its row to its end, step by step. A database that is away is waited for: what the
 * decider has answered stays in memory meanwhile. `onAwaiting` is called when nobody can tell whether its payment was
 * charged: its caller waits no longer. @throws NotOwner, or the signal's reason, when the deployment is not
 * owned here any more; another owner continues then
 */
export async function driveRun(
  dependencies: DriveDependencies,
  id: string,
  signal: AbortSignal,
  onAwaiting: () => void,
): Promise<void> {
  const { db, clock } = dependencies;
  const policy = { ...PAUSE, attempts: Number.POSITIVE_INFINITY, retryable: () => true };
  const drive: Drive = { failures: 0 };
  let before: string | undefined;
  let repeated = 0;
  for (;;) {
    const row = await retry(() => readRun(db, id), policy, { clock, signal });
    const step = row && stepOf(row);
    if (row === undefined || step === undefined) return;
    if (awaitsPayment(row.state)) onAwaiting();
    const position = `${row.state} ${row.attempts} ${drive.ending === undefined}`;
    repeated = position === before ? repeated + 1 : 0;
    if (repeated > 0) await clock.sleep(backoffDelay(repeated, PAUSE), signal);
    else drive.failures = 0;
    before = position;
    signal.throwIfAborted();
    await take(dependencies, drive, row, step, signal);
  }
}

async function take(
  dependencies: DriveDependencies,
  drive: Drive,
  row: RunRow,
  step: Step,
  signal: AbortSignal,
): Promise<void> {
  try {
    // It may be charged, so it is settled, however late that is.
    if (isBeingPaid(row)) return await step(dependencies, row, signal, drive);
    if (drive.ending !== undefined) return await end(dependencies, drive, drive.ending, row, signal);
    if (dependencies.clock.now() >= endOf(row)) throw new ServiceError('deadline_exceeded');
    await step(dependencies, row, signal, drive);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof NotOwner) throw error;
    afterFailure(dependencies, drive, row, error);
  }
}

/** Decides whether the run ends with this error; otherwise the step is tried again. */
function afterFailure({ clock, logger }: DriveDependencies, drive: Drive, row: RunRow, error: unknown): void {
  const reason = reasonOf(error);
  const isNew = reason.code === 'internal' && reason.message !== NOT_STORED.message;
  if (isNew) logger.error({ err: reason, run: row.id }, 'a step of a run failed');
  if (isBeingPaid(row)) return;
  if (!reason.retryable) drive.failures += 1;
  if (drive.ending !== undefined) return;
  if (error instanceof DeciderFailed) drive.ending = { reason, evidence: error.evidence };
  else if (reason.code === 'write_conflict' || reason.code === 'deployment_not_found')
    drive.ending = { reason };
  else if (clock.now() >= endOf(row)) drive.ending = { reason };
  else if (drive.failures >= MAX_TRIES) drive.ending = { reason: storableReason(reason), hasRead: true };
}

const isBeingPaid = ({ state }: RunRow): boolean => state === 'staged' || state === 'awaiting_payment';

/** Its own failure. What was unknown about a step is decided when the run ends with it. */
function reasonOf(error: unknown): ServiceError {
  const reason = toCallError(error instanceof DeciderFailed ? error.cause : error);
  const { outcome, ...facts } = reason.facts;
  if (outcome === undefined) return reason;
  return new ServiceError(reason.code, undefined, { errors: reason.errors, facts, cause: reason });
}

const storableReason = (reason: ServiceError): ServiceError =>
  reason.code === 'internal' ? NOT_STORED : reason;

/**
 * Ends the run with its reason; where that cannot be stored either, with the plain reason alone. The item rejects with
 * the run's own error once that is stored: then the row shows it.
 */
async function end(
  dependencies: DriveDependencies,
  { failures }: Drive,
  ending: Ending,
  row: RunRow,
  signal: AbortSignal,
): Promise<void> {
  const { db, lanes, clock } = dependencies;
  const { reason } = ending;
  if (reason.code === 'deployment_not_found') return endOrphan(db, row, clock.now());
  // It would have been refused before it was accepted, had the others been waiting already.
  const isLate = reason.code === 'too_many_waiting';
  const item =
    failures < MAX_TRIES && !isLate
      ? failItem(dependencies, row, signal, ending)
      : refuseItem(dependencies, row, signal, isLate ? reason : NOT_STORED);
  await lanes.submit<unknown>(item);
}

/** Ends a run of a deleted deployment, which has no lane any more. */
async function endOrphan(db: Db, row: RunRow, now: number): Promise<void> {
  const error = {
    code: 'deployment_not_found',
    detail: 'The deployment was deleted.',
    errors: [],
    facts: {},
  };
  await releaseKeysOf(db, row.id);
  await releaseReservation(db, row.id);
  await db
    .updateTable('runs')
    .set({
      state: 'failed',
      ended_at: new Date(now),
      error: JSON.stringify(error) as never,
      evidence: JSON.stringify(evidenceOfRun(row)) as never,
    })
    .where('id', '=', row.id)
    .where('ended_at', 'is', null)
    .execute();
}
