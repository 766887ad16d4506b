import { isDeepStrictEqual } from 'node:util';
import { asServiceError, type ExecutionAnswer, type JsonObject, ServiceError } from '@orrery/contracts';
import { type Clock, monotonicOf } from '@orrery/service-kit';
import { applyMutation, decideExecution, readForExecution } from '../../core/deciding/execute-event.js';
import type { Decision, ReadSet } from '../../core/deciding/execution.js';
import type { CheckProposal, DeciderAnswer } from '../../core/models/model.js';
import type { ItemOutcome, WorkItem } from '../../lane/items/work-item.js';
import { partitionOf } from '../../store/leases/partitions.js';
import { endOf, isPaid, paymentOf, type RunRow } from '../../store/runs/run-store.js';
import { inTheWayOf } from '../../store/state/deployment-state.js';
import { conclude, failedOutcome } from '../requests/conclude.js';
import {
  callDecider,
  deciderRequestOf,
  fingerprintOf,
  holdsOf,
  type ReadFingerprint,
  stillFits,
  type UncheckedRequest,
  verdictOf,
} from '../requests/decider-request.js';
import type { Briefing } from '../requests/resolve-event.js';
import {
  type Drive,
  endRun,
  evidenceColumn,
  evidenceOfRun,
  runItem,
  type Step,
  type StepContext,
  type StepDependencies,
  updateRun,
} from './run-item.js';
import { stageRun } from './stage-run.js';

/** Checks proposals for a run in its deployment's lane. What else may end the run is left to its next step. */
const checkForRun =
  (
    dependencies: StepDependencies,
    row: RunRow,
    signal: AbortSignal,
    fingerprint: ReadFingerprint,
  ): CheckProposal =>
  async (mutation) => {
    const item = runItem(dependencies, row, signal, (context) => refusalOf(context, fingerprint, mutation));
    return dependencies.lanes.submit(withoutCommit(item)).catch(() => undefined);
  };

function refusalOf(
  { resolved, state, execution, briefing }: StepContext,
  fingerprint: ReadFingerprint,
  mutation: JsonObject,
): ItemOutcome<string | undefined> {
  if (briefing === 'prepare') return { kind: 'prepare' };
  const found = readForExecution(execution, state.instances);
  if (found.kind === 'needs') return { kind: 'needs', needs: found };
  const isFresh =
    found.kind === 'read' &&
    stillFits({ ...fingerprint }, fingerprintOf(resolved, state, found.read, briefing));
  if (!isFresh) return { kind: 'answer', answer: undefined };
  return verdictOf(applyMutation(execution, found.read, mutation, state.instances));
}

const withoutCommit = (item: WorkItem<string | undefined>): WorkItem<string | undefined> => ({
  ...item,
  decide: (state, ids, now) => {
    const outcome = item.decide(state, ids, now);
    return outcome.kind === 'record' ? { kind: 'answer', answer: undefined } : outcome;
  },
});

// deciding
export async function decideStep(...[dependencies, row, signal, drive]: Parameters<Step>): Promise<void> {
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

/** Rounds of one run: from the second on its reads are held, but its binding may still change. */
const MAX_ROUNDS = 5;

/** The answer would be refused on the same fingerprint again, so the decider has to give another. */
const UNUSABLE = 'unusable';

export async function applyStep(...[dependencies, row, signal, drive]: Parameters<Step>): Promise<void> {
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
  if (row.attempts >= MAX_ROUNDS) {
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
