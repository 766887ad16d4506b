import { ServiceError } from '@orrery/contracts';
import { toCallError } from '@orrery/database';
import { type Backoff, backoffDelay, retry, startPollLoop } from '@orrery/service-kit';
import { DeciderFailed } from '../../core/prompting/model.js';
import type { FixedRound } from '../../core/randomness/beacon.js';
import { NotOwner, partitionOf } from '../../store/leases/leases.js';
import {
  endOf,
  failOrphan,
  RUNS_AT_ONCE,
  type RunRow,
  readRun,
  undriven,
} from '../../store/runs/run-store.js';
import { awaitsPayment } from '../../store/state/deployment-state.js';
import { beaconAway } from '../asking/beacons.js';
import { failedOutcome } from '../requests/conclude.js';
import type { RunDependencies } from '../requests/run-dependencies.js';
import { applyStep, decideStep } from './decide-run.js';
import {
  type Drive,
  type Ending,
  endRun,
  entryEvidence,
  evidenceOfRun,
  NOTHING,
  openItem,
  refuseRun,
  runItem,
  type Step,
  withEvidence,
} from './run-item.js';
import { endSettlement, resolveRun, settleRun } from './settle-run.js';

/**
 * The state machine of a run. A step is one or more items of the deployment's lane, each committed. The owner takes each
 * step; if it dies, the next owner takes the step of the state in the row again.
 *
 *   state             step                                                              next state
 *   deciding, paid    a template decides: read → decide → apply → check, one commit     succeeded | failed
 *   deciding, paid    what it draws comes from a round of the beacon: wait for the      deciding, paid
 *                     round that is fixed in the row, then the same step
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
 *   awaiting_payment  it is settled: decide on the state as it is then, and draw from   paid | paid_decided
 *                     a round of the beacon that is fixed then
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
} satisfies Partial<Record<RunRow['state'], (step: Step) => Promise<void>>>;

// staged
async function settleStep(step: Step): Promise<void> {
  const { row, drive, outside } = step;
  // It waits for no move: its holds keep others waiting, and a chain charges a payment once, whoever asks.
  await outside.during(partitionOf(row.deployment_id), async () => {
    drive.settlement ??= await settleRun(step);
    if (drive.settlement !== undefined) await endSettlement(step, drive.settlement);
    drive.looks = 0;
    delete drive.settlement;
  });
}

// awaiting_payment
async function awaitStep(step: Step): Promise<void> {
  const { drive } = step;
  drive.settlement ??= await resolveRun(step);
  drive.looks = (drive.looks ?? 0) + 1;
  await endSettlement(step, drive.settlement);
  delete drive.settlement;
}

/** How long a run may take to record its failure, in milliseconds: it may be overdue already. */
const FAIL_TIMEOUT_MS = 10_000;

/**
 * Ends a run with its reason. If preparing the item fails (the catalog may be unavailable), it is not known what the run
 * would have executed, and only its row records the reason.
 */
async function failRun(step: Step, { reason, evidence, hasRead }: Ending): Promise<void> {
  const { row, clock, lanes } = step;
  const all = withEvidence(evidenceOfRun(row), evidence ?? null);
  const item = runItem(step, ({ resolved, execution, now, details }) => {
    if (resolved.definition.mutation !== 'ai' && !hasRead) return refuseRun(row, reason, now);
    const recorded = { ...details, evidence: entryEvidence(all) };
    return endRun(row, failedOutcome(resolved, execution, reason, recorded), now, all);
  });
  const deadline = clock.monotonic() + FAIL_TIMEOUT_MS;
  const unprepared = openItem(step, deadline, (open, _state, now) =>
    open.staged ? NOTHING : refuseRun<undefined>(row, reason, now, all),
  );
  let isUnknown = false;
  await lanes.submit<unknown>({
    ...item,
    deadline,
    prepare: async (state) => {
      isUnknown = await Promise.resolve(item.prepare(state)).then(
        () => false,
        () => true,
      );
    },
    decide: (...args) => (isUnknown ? unprepared : item).decide(...args),
  });
}

/** Ends a run with a reason and nothing else: whatever else it would record cannot be stored. */
async function refuseOnly(step: Step, reason: ServiceError): Promise<void> {
  const deadline = step.clock.monotonic() + FAIL_TIMEOUT_MS;
  await step.lanes.submit(
    openItem(step, deadline, (open, _state, now) =>
      open.staged ? NOTHING : refuseRun<undefined>(step.row, reason, now, []),
    ),
  );
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
async function driveRun(
  dependencies: RunDependencies,
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
    if (row === undefined || row.ended_at !== null) return;
    if (awaitsPayment(row.state)) onAwaiting();
    const position = `${row.state} ${row.attempts} ${drive.ending === undefined}`;
    repeated = position === before ? repeated + 1 : 0;
    if (repeated > 0) await clock.sleep(backoffDelay(repeated, PAUSE), signal);
    else drive.failures = 0;
    before = position;
    signal.throwIfAborted();
    await take({ ...dependencies, row, signal, drive });
  }
}

async function take(step: Step): Promise<void> {
  const { row, signal, drive, clock } = step;
  try {
    // One that is being paid for may be charged, so it is settled, however late that is.
    if (!isBeingPaid(row) && drive.ending !== undefined) return await end(step, drive.ending);
    if (!isBeingPaid(row) && clock.now() >= endOf(row))
      throw isWaiting(drive) ? beaconAway() : new ServiceError('deadline_exceeded');
    if (isWaiting(drive)) drive.beacon = await step.beacons.round(drive.round, signal);
    await STEPS[row.state as keyof typeof STEPS](step);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof NotOwner) throw error;
    afterFailure(step, error);
  }
}

/** Whether it needs a round that it has not. */
const isWaiting = (drive: Drive): drive is Drive & { round: FixedRound } =>
  drive.round !== undefined && drive.beacon?.round !== drive.round.number;

/** Decides whether the run ends with this error; otherwise the step is tried again. */
function afterFailure({ clock, logger, drive, row }: Step, error: unknown): void {
  const reason = reasonOf(error);
  const isNew = reason.code === 'internal' && reason.message !== NOT_STORED.message;
  if (isNew) logger.error({ err: reason, run: row.id }, 'a step of a run failed');
  if (isBeingPaid(row)) return;
  if (!reason.retryable) drive.failures += 1;
  if (drive.ending !== undefined) return;
  if (error instanceof DeciderFailed) drive.ending = { reason, evidence: error.evidence };
  else if (reason.code === 'write_conflict' || reason.code === 'deployment_not_found')
    drive.ending = { reason };
  else if (clock.now() >= endOf(row))
    drive.ending = { reason, hasRead: reason.code === 'randomness_unavailable' };
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
async function end(step: Step, ending: Ending): Promise<void> {
  const { row, drive, db, clock } = step;
  const { reason } = ending;
  if (reason.code === 'deployment_not_found')
    return failOrphan(db, row.id, evidenceOfRun(row), new Date(clock.now()));
  // It would have been refused before it was accepted, had the others been waiting already.
  if (reason.code === 'too_many_waiting') return refuseOnly(step, reason);
  return drive.failures < MAX_TRIES ? failRun(step, ending) : refuseOnly(step, NOT_STORED);
}

const INTERVAL_MS = 1000;

interface Driven {
  readonly partition: number;
  readonly stopping: AbortController;
  readonly ended: Promise<void>;
  /** The caller of the run has its answer. */
  readonly answered: Promise<void>;
}

export type RunKeeper = ReturnType<typeof startRunKeeper>;

/** Drives every run of the deployments owned here to its end. */
export function startRunKeeper(dependencies: RunDependencies) {
  const { db, held, clock, logger } = dependencies;
  const driven = new Map<string, Driven>();

  /** Resolves when the run has ended or awaits its payment; rejects when another owner continues it. */
  const drive = (id: string, deploymentId: number): Promise<void> => {
    const known = driven.get(id);
    if (known !== undefined) return known.answered;
    const stopping = new AbortController();
    const { promise: awaiting, resolve: onAwaiting } = Promise.withResolvers<void>();
    const ended = driveRun(dependencies, id, stopping.signal, onAwaiting).finally(() => driven.delete(id));
    const answered = Promise.race([ended, awaiting]);
    driven.set(id, { partition: partitionOf(deploymentId), stopping, ended, answered });
    // What goes wrong after the answer is reported as for a run that nobody waits for.
    void awaiting.then(() => ended).catch(report);
    return answered;
  };
  const runOnce = async () => {
    const partitions = held.all().map(({ partition }) => partition);
    const mine = partitions.filter((partition) => held.epochOf(partition) !== undefined);
    const found = await undriven(db, mine, [...driven.keys()]);
    for (const { id, deployment_id } of found) void drive(id, deployment_id).catch(report);
    return found.length === RUNS_AT_ONCE ? ('more' as const) : ('idle' as const);
  };
  const report = (error: unknown) => {
    const isExpected = error instanceof NotOwner || (error as { name?: unknown }).name === 'AbortError';
    if (!isExpected) logger.warn({ err: error }, 'a run could not be driven; the next search takes it up');
  };
  const loop = startPollLoop({ name: 'open runs', intervalMs: INTERVAL_MS, runOnce, clock, logger });

  const release = (released: readonly Driven[]) => {
    for (const { stopping } of released) stopping.abort();
    return Promise.allSettled(released.map(({ ended }) => ended));
  };
  return {
    drive,
    /** Stops driving the runs of a partition that is not owned here any more. */
    abandon: (partition: number) =>
      void release([...driven.values()].filter((one) => one.partition === partition)),
    wake: loop.wake,
    runOnce: loop.runOnce,
    stop: async () => {
      await loop.stop();
      await release([...driven.values()]);
    },
  };
}
