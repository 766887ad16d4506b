import { asServiceError, ServiceError } from '@orrery/contracts';
import type { Clock, Logger } from '@orrery/service-kit';
import type { Db } from '../database/db.js';
import type { Lanes } from '../lanes/lanes.js';
import { NotOwner } from '../ownership/partitions.js';
import { applyStep } from './apply-step.js';
import { beginStep } from './begin-step.js';
import { failStep } from './fail-step.js';
import { keepStep } from './keep-step.js';
import type { Outside, OutsideAnswer, OutsideRequest } from './outside.js';
import { hasEnded, type RunRow, readRun } from './run-row.js';
import type { StepDependencies } from './run-step.js';

export interface DriveDependencies extends StepDependencies {
  readonly db: Db;
  readonly lanes: Pick<Lanes, 'submit'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly outside?: Outside | undefined;
}

/** The pause before a step is tried again that led nowhere, in milliseconds. */
const RETRY_MS = 200;

/** What the world outside refused: the execution's own failure. */
class OutsideFailed extends Error {
  override readonly name = 'OutsideFailed';
}

/**
 * Takes a run from where its row says it is to its end. Rejects when the deployment is not owned here any more or the
 * signal aborts: another owner goes on then.
 */
export async function driveRun(
  dependencies: DriveDependencies,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  for (let before: string | undefined; ; ) {
    const row = await readRun(dependencies.db, id);
    if (row === undefined || hasEnded(row) || row.state === 'staged') return;
    const place = `${row.state} ${row.attempts}`;
    if (place === before) await dependencies.clock.sleep(RETRY_MS, signal);
    before = place;
    signal.throwIfAborted();
    try {
      await takeStep(dependencies, row, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof NotOwner) throw error;
      await afterFailure(dependencies, id, signal, error);
    }
  }
}

async function takeStep(dependencies: DriveDependencies, row: RunRow, signal: AbortSignal): Promise<void> {
  const { lanes, clock } = dependencies;
  if (clock.now() >= row.deadline.getTime()) throw new ServiceError('deadline_exceeded');
  if (row.state === 'decided') {
    await lanes.submit(applyStep(dependencies, row, signal));
    return;
  }
  const question = await lanes.submit(beginStep(dependencies, row, signal));
  if (question === undefined) return;
  const answer = await askOutside(dependencies, question.request, signal);
  await lanes.submit(keepStep(row, signal, question, answer));
}

/** Until the run's deadline, whatever the other side makes of its signal. */
async function askOutside(
  { outside, clock }: DriveDependencies,
  request: OutsideRequest,
  signal: AbortSignal,
): Promise<OutsideAnswer> {
  const done = new AbortController();
  const either = AbortSignal.any([signal, done.signal]);
  const late = clock.sleep(Math.max(0, request.deadline - clock.now()), either).then(() => {
    throw new ServiceError('deadline_exceeded');
  });
  try {
    if (outside === undefined) throw new ServiceError('unavailable', 'there is nobody to ask');
    return await Promise.race([outside(request, either), late]);
  } catch (error) {
    throw new OutsideFailed('the world outside gave no answer', { cause: error });
  } finally {
    done.abort();
    late.catch(() => undefined);
  }
}

/** Told already, the run's own failure, or something that passes. */
async function afterFailure(
  dependencies: DriveDependencies,
  id: string,
  signal: AbortSignal,
  error: unknown,
): Promise<void> {
  const { db, lanes, clock } = dependencies;
  const row = await readRun(db, id);
  if (row === undefined || hasEnded(row)) return;
  const reason = asServiceError(error instanceof OutsideFailed ? error.cause : error);
  if (reason.code === 'internal')
    dependencies.logger.error({ err: reason, run: id }, 'a step of a run failed');
  if (reason.code === 'deployment_not_found') return endOrphan(db, row, clock.now());
  const isOwn = error instanceof OutsideFailed || OWN_FAILURES.has(reason.code);
  if (isOwn || clock.now() >= row.deadline.getTime()) {
    await lanes.submit(failStep(dependencies, row, signal, reason)).catch(unlessNotOwner);
  }
}

const OWN_FAILURES: ReadonlySet<string> = new Set(['deadline_exceeded', 'write_conflict']);

/** The end of a run is told as its failure; the row says whether it is. */
function unlessNotOwner(error: unknown): void {
  if (error instanceof NotOwner) throw error;
}

/** A deleted deployment has no lane any more. */
async function endOrphan(db: Db, { id }: RunRow, now: number): Promise<void> {
  const error = { code: 'deployment_not_found', detail: 'the deployment was deleted', errors: [], facts: {} };
  await db
    .updateTable('runs')
    .set({ state: 'failed', ended_at: new Date(now), error: JSON.stringify(error) as never })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .execute();
}
