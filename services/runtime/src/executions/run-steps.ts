import { isDeepStrictEqual } from 'node:util';
import { asServiceError, type ExecutionAnswer, type JsonObject, ServiceError } from '@orrery/contracts';
import { type Clock, monotonicOf } from '@orrery/service-kit';
import type { Db } from '../database/db.js';
import type { RunState } from '../database/schema.js';
import { applyMutation, decideExecution, readForExecution } from '../execution/execute-event.js';
import type { Decision } from '../execution/execution.js';
import type { ReadSet } from '../execution/read-entities.js';
import type { Lanes } from '../lanes/lanes.js';
import { callDecider, type Decider, type DeciderAnswer } from '../models/decider.js';
import type { ModelList } from '../models/model-list.js';
import type { OutsideWork } from '../ownership/outside-work.js';
import { partitionOf } from '../ownership/partitions.js';
import type { Payments } from '../payments/payments.js';
import type { Settlement } from '../payments/settle-payment.js';
import { inTheWayOf } from '../state/open-runs.js';
import type { ItemOutcome, WorkItem } from '../state/work-item.js';
import { endAwaiting, resolveRun } from './await-payment.js';
import type { Briefing } from './briefing.js';
import { checkForRun } from './check-proposal.js';
import { conclude, failedOutcome } from './conclude.js';
import {
  type DeciderRequestDependencies,
  deciderRequestOf,
  type UncheckedRequest,
} from './decider-request.js';
import type { ResolveDependencies } from './execution-item.js';
import type { Ending } from './fail-run.js';
import { fingerprintOf, holdsOf, type ReadFingerprint, stillFits } from './read-fingerprint.js';
import { evidenceOfRun } from './run-evidence.js';
import {
  type BriefingDependencies,
  endRun,
  evidenceColumn,
  runItem,
  type StepContext,
  updateRun,
} from './run-item.js';
import { endOf, isPaid, paymentOf, type RunRow } from './run-row.js';
import { endSettlement, settleRun } from './settle-run.js';
import { stageRun } from './stage-run.js';

export interface StepDependencies
  extends ResolveDependencies,
    BriefingDependencies,
    DeciderRequestDependencies {
  readonly models: Pick<ModelList, 'default' | 'find'>;
  readonly catalog: ResolveDependencies['catalog'] & BriefingDependencies['catalog'];
  readonly db: Db;
  readonly lanes: Pick<Lanes, 'submit'>;
  readonly clock: Clock;
  readonly payments: Pick<Payments, 'settle' | 'resolve'>;
  readonly aiDeadlineMs: number;
  readonly decider: Decider;
  readonly outside: Pick<OutsideWork, 'during' | 'unlessMoving'>;
}

/** What the process remembers while it drives a run from step to step. */
export interface Drive {
  /** Times that the current step has failed, not counting what may pass by itself. */
  failures: number;
  /** The decider's answer and its fingerprint. Until it is stored, the decider is not called again for that fingerprint. */
  given?: { readonly fingerprint: ReadFingerprint; readonly answer: DeciderAnswer };
  /** How the settlement of its payment ended, until that is stored. */
  settlement?: Settlement | undefined;
  /** Times that this process has asked what became of its payment; undefined until it has settled or asked. */
  looks?: number;
  ending?: Ending;
}

/** Takes a run from the state in its row to the next one. Resolves once that is committed. */
export type Step = (
  dependencies: StepDependencies,
  row: RunRow,
  signal: AbortSignal,
  drive: Drive,
) => Promise<void>;

/**
 * The state machine of a run. A step is one or more items of the deployment's lane, each committed. The owner takes each
 * step; if it dies, the next owner takes the step of the state in the row again.
 *
 *   state             step                                                              next state
 *   deciding, paid    a template decides: read → decide → apply → check, one commit     succeeded | failed
 *   deciding, paid    a decider decides: read; call the decider; store its answer with  decided, paid_decided
 *                     the read fingerprint. From the second attempt on, the instances
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

/** The step of a run; `undefined` when it has ended. */
export const stepOf = ({ state }: Pick<RunRow, 'state'>): Step | undefined =>
  state === 'succeeded' || state === 'failed' ? undefined : STEPS[state];

// deciding

async function decideStep(...[dependencies, row, signal, drive]: Parameters<Step>): Promise<void> {
  const { lanes, decider, clock, outside } = dependencies;
  const read = (context: StepContext) => readOrDecide(context, dependencies);
  const answer = await lanes.submit(runItem(dependencies, row, signal, read));
  if (answer === undefined || !('fingerprint' in answer)) return;
  const { fingerprint } = answer;
  const check = checkForRun(dependencies, row, signal, fingerprint);
  const request = { ...answer.request, check };
  const known = isDeepStrictEqual(drive.given?.fingerprint, fingerprint) ? drive.given : undefined;
  const answerAndStore = async () => {
    drive.given = known ?? { fingerprint, answer: await callDecider(decider, request, clock, signal) };
    await lanes.submit(storeAnswer(dependencies, row, signal, drive.given));
  };
  const partition = partitionOf(row.deployment_id);
  if (known !== undefined) await outside.during(partition, answerAndStore);
  // After a wait the step is taken again, and reads anew.
  else
    await outside.unlessMoving(
      partition,
      { waitMs: row.deadline.getTime() - clock.now(), signal },
      answerAndStore,
    );
}

/** A call of the decider, and the fingerprint of what its request was made from. */
interface DeciderCall {
  readonly request: UncheckedRequest;
  readonly fingerprint: ReadFingerprint;
}

function readOrDecide(
  context: StepContext,
  dependencies: StepDependencies,
): ItemOutcome<ExecutionAnswer | DeciderCall | undefined> {
  const { row, resolved, state, execution, briefing, details, now } = context;
  if (resolved.definition.mutation !== 'ai') {
    const decision = decideExecution(execution, state.instances);
    return endOrStage(context, decision);
  }
  const found = readForExecution(execution, state.instances);
  if (found.kind !== 'read') return endRun(row, conclude(resolved, execution, found, details), now);
  if (briefing === 'prepare') return { kind: 'prepare' };
  const call = deciderCall({ ...context, briefing }, found.read, dependencies);
  if (call instanceof ServiceError)
    return endRun(row, failedOutcome(resolved, execution, call, details), now);
  return row.holding ? hold(context, found.read, call, dependencies.clock) : { kind: 'answer', answer: call };
}

/** @throws never: a model that is not offered any more fails the run */
function deciderCall(
  context: StepContext & { readonly briefing: Briefing },
  read: ReadSet,
  dependencies: StepDependencies,
): DeciderCall | ServiceError {
  const { row, resolved, state, briefing } = context;
  const deadline = monotonicOf(dependencies.clock, row.deadline.getTime());
  const named = { executionId: row.id, deadline, isHolding: row.holding };
  try {
    return {
      fingerprint: fingerprintOf(resolved, state, read, briefing),
      request: deciderRequestOf(dependencies, context, read, named),
    };
  } catch (error) {
    return asServiceError(error);
  }
}

/**
 * Holds what was read, or waits until other runs have released it. From its first hold on the run has the time of one
 * call of the model.
 */
function hold(
  { row, open, state }: StepContext,
  read: ReadSet,
  { request, fingerprint }: DeciderCall,
  clock: Clock,
): ItemOutcome<DeciderCall> {
  const wanted = holdsOf(read);
  const inTheWay = inTheWayOf(wanted, state.runs, row.id);
  if (inTheWay !== undefined) return { kind: 'wait', for: inTheWay, toHold: true };
  const until = open.holds?.until ?? clock.now() + request.model.timeoutMs;
  const holds = { ...wanted, until };
  const deadline = Math.min(request.deadline, monotonicOf(clock, until));
  const call = { fingerprint, request: { ...request, deadline } };
  return updateRun(row, { ...open, holds }, { holds: { ...holds } as never }, call);
}

/** Stores the decider's answer and the read fingerprint before anything is applied, so that it is paid for once. */
const storeAnswer = (
  { clock }: Pick<StepDependencies, 'clock'>,
  row: RunRow,
  signal: AbortSignal,
  { fingerprint, answer }: NonNullable<Drive['given']>,
): WorkItem<undefined> => ({
  deploymentId: row.deployment_id,
  deadline: monotonicOf(clock, endOf(row)),
  signal,
  prepare: () => undefined,
  decide: ({ runs }) => {
    const open = runs.get(row.id);
    if (open === undefined) return { kind: 'answer', answer: undefined };
    const state = isPaid(row) ? ('paid_decided' as const) : ('decided' as const);
    // An answer is JSON.
    const proposal = { ...answer } as unknown as JsonObject;
    const basis = { ...fingerprint };
    return updateRun(row, open, { state, basis, proposal }, undefined);
  },
});

// decided

/** Decisions of one run. From the second on its reads are held, but its binding may still change. */
const MAX_ATTEMPTS = 5;

/** The answer would be refused on the same fingerprint again, so the decider has to give another. */
const UNUSABLE = 'unusable';

async function applyStep(...[dependencies, row, signal, drive]: Parameters<Step>): Promise<void> {
  const outcome = await dependencies.lanes.submit(runItem(dependencies, row, signal, applyAnswer));
  if (outcome === UNUSABLE) delete drive.given;
}

function applyAnswer(context: StepContext): ItemOutcome<ExecutionAnswer | typeof UNUSABLE | undefined> {
  const { row, resolved, state, execution, briefing } = context;
  // The event is no longer decided by a decider, and no texts are confirmed for it: its template decides.
  if (resolved.definition.mutation !== 'ai') return decideAgain(context);
  if (briefing === 'prepare') return { kind: 'prepare' };
  const found = readForExecution(execution, state.instances);
  if (found.kind === 'needs') return { kind: 'needs', needs: found };
  const isFresh =
    found.kind === 'read' && stillFits(row.basis, fingerprintOf(resolved, state, found.read, briefing));
  if (!isFresh) return decideAgain(context);
  // Stored by `storeAnswer`.
  const answer = row.proposal as unknown as DeciderAnswer;
  const decision = applyMutation(execution, found.read, answer.mutation, state.instances);
  // Created by another execution since the answer was checked.
  if (decision.kind === 'failed' && decision.error.facts['reason'] === 'not_loaded')
    return decideAgain(context, UNUSABLE);
  return endOrStage(context, decision);
}

function decideAgain<Reply>(
  { row, open, resolved, execution, details, now }: StepContext,
  reply?: Reply,
): ItemOutcome<ExecutionAnswer | Reply | undefined> {
  if (row.attempts >= MAX_ATTEMPTS) {
    const error = new ServiceError(
      'write_conflict',
      'The event or its instances change faster than it is decided.',
    );
    return endRun(row, failedOutcome(resolved, execution, error, details), now);
  }
  const evidence = evidenceColumn(evidenceOfRun(row));
  const state = isPaid(row) ? ('paid' as const) : ('deciding' as const);
  const columns = { state, holding: true, attempts: row.attempts + 1, ...evidence };
  return updateRun(row, open, columns, reply);
}

/** What is decided is committed; where it is still to be paid for, it is staged first. */
function endOrStage(context: StepContext, decision: Decision): ItemOutcome<ExecutionAnswer | undefined> {
  const { row, resolved, execution, details, now } = context;
  const outcome = conclude(resolved, execution, decision, details);
  if (decision.kind !== 'succeeded' || outcome.kind !== 'commit' || paymentOf(row) === undefined)
    return endRun(row, outcome, now);
  if (!isPaid(row)) return stageRun(context, outcome.effects, decision);
  return endRun(row, outcome, now, undefined, { status: 'settled', updated_at: new Date(now) });
}

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
  await endAwaiting(dependencies, row, drive.settlement, signal);
  delete drive.settlement;
}
