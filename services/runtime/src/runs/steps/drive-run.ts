import { type ExecutionAnswer, ServiceError } from '@orrery/contracts';
import { toCallError } from '@orrery/database';
import { type Backoff, backoffDelay, type Logger, retry } from '@orrery/service-kit';
import { DeciderFailed } from '../../core/models/model.js';
import type { WorkItem } from '../../lane/items/work-item.js';
import { NotOwner, partitionOf } from '../../store/leases/partitions.js';
import { releaseKeysOf } from '../../store/runs/once-store.js';
import { releaseReservation } from '../../store/runs/payment-store.js';
import { endOf, type RunRow, readRun } from '../../store/runs/run-store.js';
import { awaitsPayment, type DeploymentState } from '../../store/state/deployment-state.js';
import type { Db, RunState } from '../../store/tables/schema.js';
import { failedOutcome } from '../requests/conclude.js';
import { applyStep, decideStep } from './decide-run.js';
import {
  type Drive,
  type Ending,
  endRun,
  entryEvidence,
  evidenceOfRun,
  refuseRun,
  runItem,
  type Step,
  type StepDependencies,
  withEvidence,
} from './run-item.js';
import { endSettlement, resolveRun, settleRun } from './settle-run.js';

/**
 * The state machine of a run. A step is one or more items of the deployment's lane, each committed. The owner takes each
 * step; if it dies, the next owner takes the step of the state in the row again.
 *
 *   state             step                                                              next state
 *   deciding, paid    a template decides: read → decide → apply → check, one commit     succeeded | failed
 *   deciding, paid    a decider decides: read; call the decider; store its answer with  decided, paid_decided
 *                     the read fingerprint. From the second round on, the instances
 *                     read are held before the decider is called, for the
 *                     time of one call.
 *   decided,          the fingerprint still fits: apply → check the answer, one commit  succeeded | failed
 *   paid_decided      the fingerprint does not fit: decide again                        deciding, paid, holding
 *   deciding,         as the two above, where a payment was verified and is not         staged
 *   decided           charged: what would be committed is stored and everything read
 *                     and changed is held
 *   staged            the payment is settled: commit what was staged                    succeeded
 *   staged            nobody can tell: release everything that is held                  awaiting_payment
 *   awaiting_payment  nobody can tell yet: ask again after a pause                      awaiting_payment
 *   awaiting_payment  it is settled: decide on the state as it is then                  paid | paid_decided
 *   staged,           the payment was not charged and cannot be by us, or was charged   failed
 *   awaiting_payment  by another's transaction
 *   any but staged,   paused, unbound, overdue, or the decider failed                   failed
 *   awaiting_payment
 *
 * A failure from *read* on leaves a failed entry. A refusal before it leaves the row only, unless the payment is charged.
 * Beside the run its payment has states of its own (docs/payments.md, which draws both); each is committed together with
 * the step of the run, before the call that it is about.
 */
const STEPS = {
  deciding: decideStep,
  decided: applyStep,
  staged: settleStep,
  awaiting_payment: awaitStep,
  paid: decideStep,
  paid_decided: applyStep,
} satisfies Record<Exclude<RunState, 'succeeded' | 'failed'>, Step>;

const stepOf = ({ state }: Pick<RunRow, 'state'>): Step | undefined =>
  state === 'succeeded' || state === 'failed' ? undefined : STEPS[state];

// staged
async function settleStep(...[dependencies, row, signal, drive]: Parameters<Step>): Promise<void> {
  // It waits for no move: its holds keep others waiting, and a chain charges a payment once, whoever asks.
  await dependencies.outside.during(partitionOf(row.deployment_id), async () => {
    drive.settlement ??= await settleRun(dependencies, row, signal);
    if (drive.settlement !== undefined) await endSettlement(dependencies, row, drive.settlement, signal);
    drive.looks = 0;
    delete drive.settlement;
  });
}

// awaiting_payment
async function awaitStep(...[dependencies, row, signal, drive]: Parameters<Step>): Promise<void> {
  drive.settlement ??= await resolveRun(dependencies, row, signal, drive.looks);
  drive.looks = (drive.looks ?? 0) + 1;
  await endSettlement(dependencies, row, drive.settlement, signal);
  delete drive.settlement;
}

/** How long a run may take to record its failure, in milliseconds: it may be overdue already. */
const FAIL_TIMEOUT_MS = 10_000;

/**
 * Ends a run with its reason. If preparing the item fails (the catalog may be unavailable), it is not known what the run
 * would have executed, and only its row records the reason.
 */
function failItem(
  dependencies: StepDependencies,
  row: RunRow,
  signal: AbortSignal,
  { reason, evidence, hasRead }: Ending,
): WorkItem<ExecutionAnswer | undefined> {
  const all = withEvidence(evidenceOfRun(row), evidence ?? null);
  const item = runItem<ExecutionAnswer>(
    dependencies,
    row,
    signal,
    ({ resolved, execution, now, details }) => {
      if (resolved.definition.mutation !== 'ai' && !hasRead) return refuseRun(row, reason, now);
      const recorded = { ...details, evidence: entryEvidence(all) };
      return endRun(row, failedOutcome(resolved, execution, reason, recorded), now, all);
    },
  );
  let isUnknown = false;
  return {
    ...item,
    deadline: dependencies.clock.monotonic() + FAIL_TIMEOUT_MS,
    prepare: async (state) => {
      isUnknown = await Promise.resolve(item.prepare(state)).then(
        () => false,
        () => true,
      );
    },
    decide: (state, ids, now) =>
      isUnknown && mayEnd(state, row) ? refuseRun(row, reason, now, all) : item.decide(state, ids, now),
  };
}

/** Ends a run with a reason and nothing else: whatever else it would record cannot be stored. */
const refuseItem = (
  { clock }: Pick<StepDependencies, 'clock'>,
  row: RunRow,
  signal: AbortSignal,
  reason: ServiceError,
): WorkItem<undefined> => ({
  deploymentId: row.deployment_id,
  deadline: clock.monotonic() + FAIL_TIMEOUT_MS,
  signal,
  prepare: () => undefined,
  decide: (state, _ids, now) =>
    mayEnd(state, row) ? refuseRun(row, reason, now, []) : { kind: 'answer', answer: undefined },
});

/** Whether a run may be failed: one that is staged may be charged. */
const mayEnd = ({ runs }: DeploymentState, { id }: RunRow): boolean => runs.get(id)?.staged === false;

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
