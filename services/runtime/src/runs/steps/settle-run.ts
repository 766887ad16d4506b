import { type ExecutionAnswer, type JsonObject, type JsonValue, ServiceError } from '@orrery/contracts';
import { answerOf, type BeaconChain, type CheckedChange, changeKey, type Success } from '@orrery/deciding';
import { type Backoff, backoffDelay } from '@orrery/service-kit';
import { NO_CALLS } from '../../core/payments/judge-settlement.js';
import { sentenceOf } from '../../core/payments/payment-reasons.js';
import type { Evidence } from '../../core/prompting/model.js';
import type { ItemOutcome } from '../../lane/items/work-item.js';
import type { Effects } from '../../store/commit/effects.js';
import { schemasCreatedBy } from '../../store/commit/stage-effects.js';
import { unknownKeys } from '../../store/commit/stage-timers.js';
import { paymentProgress } from '../../store/runs/payment-store.js';
import type { RunRow } from '../../store/runs/run-store.js';
import {
  type DeploymentState,
  type Holds,
  inTheWayOf,
  type OpenRun,
} from '../../store/state/deployment-state.js';
import { watchedAt } from '../payments/reconcile.js';
import type { Settlement } from '../payments/settle-payment.js';
import { countPayment } from '../payments/signals.js';
import { demanded } from '../requests/require-payment.js';
import {
  endRun,
  evidenceColumn,
  evidenceOfRun,
  holdsOf,
  openItem,
  paymentUpdate,
  type Step,
  type StepContext,
  updateRun,
  withEvidence,
} from './run-item.js';
import { chainToDrawAnew, drawnAnew } from './run-randomness.js';
import {
  failedAfterStaging,
  requiredPayment,
  type StagedOutcome,
  stagedOutcomeOf,
  storedOutcome,
} from './staged-outcome.js';

/**
 * Stores what the run will commit, and holds at once what it has read and what it will change: from here on nothing can
 * make it go stale, and two staged runs cannot wait for each other. Claims on schemas are committed and room for new
 * instances is reserved, so nothing that could fail is left for after the settlement.
 */
export function stageRun(
  { row, open, state, now }: StepContext,
  { entry, durationMs, pushes, llm, timers, before }: Effects,
  read: Pick<Success, 'reads' | 'wholeSchemas'>,
): ItemOutcome<undefined> {
  const holds = holdsFor(entry.changes, read);
  const inTheWay = inTheWayOf(holds, state.runs, row.id);
  if (inTheWay !== undefined && open.holds !== null) {
    // It waits without holding anything, and is decided again if what it read changes meanwhile.
    return updateRun(row, { ...open, holds: null }, { holds: null }, undefined);
  }
  if (inTheWay !== undefined) return { kind: 'wait', for: inTheWay, toHold: true };
  const staged: StagedOutcome = {
    entry,
    ...(durationMs !== undefined && { durationMs }),
    pushes: pushes ?? null,
    llm: llm ?? null,
    ...(timers && { timers }),
  };
  const columns = {
    state: 'staged' as const,
    holds: { ...holds } as never,
    staged: storedOutcome(staged) as unknown as JsonObject,
    ...evidenceColumn(evidenceOfRun(row)),
  };
  return {
    ...updateRun(row, { ...open, holds, staged: true }, columns, undefined),
    payment: paymentUpdate(requiredPayment(row), { status: 'staged' }, now),
    claims: schemasCreatedBy({ entry }),
    before,
  };
}

function holdsFor(changes: readonly CheckedChange[], read: Pick<Success, 'reads' | 'wholeSchemas'>): Holds {
  const { instances, schemas } = holdsOf(read);
  const changed = changes.filter(({ entitySchema }) => !schemas.includes(entitySchema)).map(changeKey);
  const added = changes.reduce((sum, { op }) => sum + (op === 'create' ? 1 : op === 'delete' ? -1 : 0), 0);
  return { instances: [...new Set([...instances, ...changed])], schemas, room: Math.max(0, added) };
}

/** How long a step waits to be committed, in milliseconds; it is taken again until it is. */
const COMMIT_MS = 10_000;
/** The pause before a chain is asked again about an unclear payment. */
const PAUSE: Backoff = { baseMs: 1000, maxMs: 10_000 };

/**
 * Settles the payment of a staged run. That the settlement begins is committed first: a process that has lost the
 * deployment cannot commit that, so it does not ask for the settlement. One that loses the deployment between this commit
 * and its call may still ask; the next owner then sees that a call is unaccounted for.
 *
 * @returns undefined when the run has ended meanwhile
 */
export async function settleRun(step: Step): Promise<Settlement | undefined> {
  const { row, signal, db, lanes, payments, clock } = step;
  const payment = requiredPayment(row);
  const { status, settlingAt, calls } = await paymentProgress(db, payment.key);
  // A later owner keeps the time at which the first one began: it may have been charged since then.
  const since = settlingAt?.getTime() ?? clock.now();
  const begins = await lanes.submit(
    openItem(step, clock.monotonic() + COMMIT_MS, (open, _state, now) => ({
      ...updateRun(row, open, {}, true),
      payment: paymentUpdate(payment, { status: 'settling', settling_at: new Date(since) }, now),
    })),
  );
  if (begins === undefined) return undefined;
  const before = status === 'staged' ? NO_CALLS : { ...calls, unaccounted: true };
  return payments.settle(payment, { since, calls: before, signal });
}

/** Asks for the outcome of an unclear payment. */
export async function resolveRun({ row, signal, drive, db, payments, clock }: Step): Promise<Settlement> {
  const { looks } = drive;
  // Who began the wait has asked just now, and its caller is to hear first that the payment is unclear.
  if (looks !== undefined) await clock.sleep(backoffDelay(looks + 1, PAUSE), signal);
  const payment = requiredPayment(row);
  const { settlingAt, calls: stored } = await paymentProgress(db, payment.key);
  // Where another process began the wait, a call of that one may be unaccounted for.
  const calls = looks === undefined ? { ...stored, unaccounted: true } : stored;
  return payments.resolve(payment, { since: (settlingAt ?? row.created_at).getTime(), calls, signal });
}

/**
 * Commits the outcome of a settlement. What was staged is committed exactly so; after a wait, its execution is decided on
 * the state as it is then. Where nobody can tell, the run waits.
 */
export async function endSettlement(step: Step, settlement: Settlement): Promise<void> {
  const { row, lanes, clock, aiDeadlineMs } = step;
  const isStaged = row.state === 'staged';
  const chain = !isStaged && settlement.kind === 'settled' ? await chainToDrawAnew(step) : undefined;
  const item = openItem<ExecutionAnswer | undefined>(
    step,
    clock.monotonic() + COMMIT_MS,
    (open, state, now) => {
      switch (settlement.kind) {
        case 'unclear':
          return awaits(row, open, settlement, now);
        case 'settled':
          return isStaged
            ? commitStaged(row, state, settlement.transaction, now)
            : decideAnew(row, open, settlement.transaction, now, { aiDeadlineMs, chain });
        case 'elsewhere':
          return chargedElsewhere(row, settlement.transaction, now);
        case 'refused':
          return refused(row, settlement, now);
      }
    },
  );
  await lanes.submit(item).catch((error: unknown) => {
    // The error that the run ends with is no error of the item.
    const isOfRun = error instanceof ServiceError && error.facts['historyId'] !== undefined;
    if (!isOfRun) throw error;
  });
  const { kind } = settlement;
  if (isStaged && kind === 'unclear') countPayment('awaiting');
  else if (isStaged && kind === 'settled') countPayment('settled');
  else if (kind === 'elsewhere') countPayment('refund_due');
  else if (kind === 'refused') countPayment('refused');
}

/** Nothing is checked again: pauses, bindings, limits and deadlines have no say once the payment is charged. */
function commitStaged(
  row: RunRow,
  { instances, timers }: DeploymentState,
  transaction: string,
  now: number,
): ItemOutcome<ExecutionAnswer | undefined> {
  const { entry, ...rest } = stagedOutcomeOf(row);
  // The process that staged it was another, or forgot them.
  const missing = entry.changes.filter(
    ({ entitySchema, instanceId }) => instances.get(entitySchema, instanceId) === undefined,
  );
  const timerKeys = unknownKeys({ timers }, rest.timers?.planned ?? []);
  if (missing.length + timerKeys.length > 0)
    return { kind: 'needs', needs: { instances: missing, timerKeys } };
  const outcome: ItemOutcome<ExecutionAnswer> = {
    kind: 'commit',
    effects: { entry, ...rest },
    answer: (sealed) => ({ reply: answerOf(sealed, rest.pushes?.targetChains ?? []) }),
  };
  return endRun(row, outcome, now, undefined, { status: 'settled', transaction });
}

/** Nothing is held while nobody can tell, however long that takes: one payer would keep what it held from all others. */
function awaits(
  row: RunRow,
  open: OpenRun,
  { calls, reason }: Extract<Settlement, { kind: 'unclear' }>,
  now: number,
): ItemOutcome<undefined> {
  const released = { ...open, holds: null, staged: false, awaitsPayment: true };
  // A later owner has to know the transactions that were named meanwhile.
  const payment = paymentUpdate(
    requiredPayment(row),
    { calls: { ...calls } as unknown as JsonObject, reason },
    now,
  );
  return { ...updateRun(row, released, { state: 'awaiting_payment', holds: null }, undefined), payment };
}

/**
 * The payment is charged, by us. What was staged was released long ago, so its execution is decided on the state as it is
 * now. An answer of a model that was stored is applied if what it read is still the same.
 */
function decideAnew(
  row: RunRow,
  open: OpenRun,
  transaction: string,
  now: number,
  { aiDeadlineMs, chain }: { readonly aiDeadlineMs: number; readonly chain: BeaconChain | undefined },
): ItemOutcome<undefined> {
  const evidence: readonly Evidence[] = evidenceOfRun(row);
  // The evidence of the stored answer was taken over when it was staged; it comes with the answer again.
  const repeated = withEvidence([], row.proposal as Partial<Evidence> | null).length;
  const columns = {
    state: row.proposal === null ? ('paid' as const) : ('paid_decided' as const),
    evidence: evidence.slice(0, evidence.length - repeated) as unknown as JsonValue,
    attempts: 1,
    holding: false,
    deadline: new Date(now + aiDeadlineMs),
    ...drawnAnew(row, chain, now),
  };
  const payment = paymentUpdate(requiredPayment(row), { transaction, reason: null }, now);
  return { ...updateRun(row, open, columns, undefined), payment };
}

function refused(
  row: RunRow,
  { reason, isFinal }: Extract<Settlement, { kind: 'refused' }>,
  now: number,
): ItemOutcome<ExecutionAnswer> {
  const payment = requiredPayment(row);
  const { requirement, resource } = payment;
  const detail = `The payment was refused when it was settled. ${sentenceOf(reason)}`;
  const error = demanded('payment_refused', detail, [requirement], resource, { reason });
  const journalled = new ServiceError('payment_refused', detail, { facts: { reason } });
  const outcome = failedAfterStaging(row, error, now, journalled);
  const check_at = isFinal ? null : watchedAt(payment);
  return endRun(row, outcome, now, undefined, { status: 'refused', reason, check_at });
}

function chargedElsewhere(row: RunRow, transaction: string, now: number): ItemOutcome<ExecutionAnswer> {
  const reason = 'settled_elsewhere';
  const detail = `${sentenceOf(reason)} The owner of the deployment has to return it.`;
  const error = new ServiceError('payment_already_used', detail, { facts: { reason, refundDue: true } });
  const paid = { status: 'refund_due', transaction, reason } as const;
  return endRun(row, failedAfterStaging(row, error, now), now, undefined, paid);
}
