import { isDeepStrictEqual } from 'node:util';
import { asServiceError, type ExecutionAnswer, type JsonObject, ServiceError } from '@orrery/contracts';
import {
  applyMutation,
  type Decision,
  decideExecution,
  type ReadSet,
  type Recalled,
  readForExecution,
  recallFor,
} from '@orrery/deciding';
import { type Clock, monotonicOf } from '@orrery/service-kit';
import type { CheckProposal, DeciderAnswer, RefusedProposal } from '../../core/prompting/model.js';
import type { ItemOutcome } from '../../lane/items/work-item.js';
import { partitionOf } from '../../store/leases/leases.js';
import { endOf, isPaid, paymentOf } from '../../store/runs/run-store.js';
import { inTheWayOf } from '../../store/state/deployment-state.js';
import { conclude, failedOutcome } from '../requests/conclude.js';
import type { Briefing } from '../requests/resolve-event.js';
import type { RunDependencies } from '../requests/run-dependencies.js';
import {
  callDecider,
  deciderRequestOf,
  toldOf,
  type UncheckedRequest,
  verdictOf,
  withTold,
} from './ask-decider.js';
import { fingerprintOf, type ReadFingerprint, stillFits } from './read-fingerprint.js';
import {
  endRun,
  evidenceColumn,
  evidenceOfRun,
  holdsOf,
  NOTHING,
  openItem,
  runItem,
  type Step,
  type StepContext,
  updateRun,
} from './run-item.js';
import { stageRun } from './settle-run.js';

/** Checks proposals for a run in its deployment's lane. What else may end the run is left to its next step. */
const checkForRun =
  (step: Step, call: DeciderCall): CheckProposal =>
  async (mutation) => {
    const item = runItem(step, (context) => refusalOf(context, call, mutation));
    const decide: typeof item.decide = (state, ids, now) => {
      const outcome = item.decide(state, ids, now);
      return outcome.kind === 'record' ? NOTHING : outcome;
    };
    return step.lanes.submit({ ...item, decide }).catch(() => undefined);
  };

function refusalOf(
  { resolved, state, execution, briefing }: StepContext,
  { fingerprint, request }: DeciderCall,
  mutation: JsonObject,
): ItemOutcome<RefusedProposal | undefined> {
  if (briefing === 'prepare') return { kind: 'prepare' };
  const found = readForExecution(execution, state.instances);
  if (found.kind === 'needs') return { kind: 'needs', needs: found };
  const isFresh =
    found.kind === 'read' &&
    stillFits({ ...fingerprint }, fingerprintOf(resolved, state, found.read, briefing));
  if (!isFresh) return { kind: 'answer', answer: undefined };
  const read = withTold(found.read, toldOf(request));
  return verdictOf(applyMutation(execution, read, mutation, state.instances));
}

// deciding
export async function decideStep(step: Step): Promise<void> {
  const { row, signal, drive, lanes, clock, outside } = step;
  const answer = await lanes.submit(runItem(step, (context) => readOrDecide(context, step)));
  if (answer === undefined || !('fingerprint' in answer)) return;
  const { fingerprint } = answer;
  const request = { ...answer.request, check: checkForRun(step, answer) };
  const { readHistoryHash } = fingerprint;
  // That the journal has gone on makes no answer stale (ADR 40).
  const given = drive.given && { ...drive.given.fingerprint, ...(readHistoryHash && { readHistoryHash }) };
  const known = isDeepStrictEqual(given, fingerprint) ? drive.given : undefined;
  drive.readHistoryHash = (known?.fingerprint ?? fingerprint).readHistoryHash;
  const answerAndStore = async () => {
    const told = toldOf(request);
    drive.given = known ?? { fingerprint, told, answer: await callDecider(step, request, signal) };
    await storeAnswer(step, drive.given);
  };
  const partition = partitionOf(row.deployment_id);
  // The time of a run that holds ends with its hold, of which the row does not know yet.
  const wait = { waitMs: request.deadline - clock.monotonic(), signal };
  if (known !== undefined) await outside.during(partition, answerAndStore);
  // After a wait the step is taken again, and reads anew.
  else await outside.unlessMoving(partition, wait, answerAndStore);
}

interface DeciderCall {
  readonly request: UncheckedRequest;
  readonly fingerprint: ReadFingerprint;
}

function readOrDecide(
  context: StepContext,
  dependencies: RunDependencies,
): ItemOutcome<ExecutionAnswer | DeciderCall | undefined> {
  const { row, resolved, state, execution, briefing, details, now } = context;
  if (resolved.definition.mutation !== 'ai') {
    const decision = decideExecution(execution, state.instances);
    return endOrStage(context, decision);
  }
  const found = readForExecution(execution, state.instances);
  const recalled = found.kind === 'read' ? recallFor(execution, found.read, state.instances) : found;
  if (recalled.kind !== 'read') return endRun(row, conclude(resolved, execution, recalled, details), now);
  const { read } = recalled;
  if (briefing === 'prepare') return { kind: 'prepare' };
  const call = deciderCall({ ...context, briefing }, read, dependencies);
  if (call instanceof ServiceError)
    return endRun(row, failedOutcome(resolved, execution, call, details), now);
  return row.holding ? hold(context, read, call, dependencies.clock) : { kind: 'answer', answer: call };
}

/** @throws never: a model that is not offered any more fails the run */
function deciderCall(
  context: StepContext & { readonly briefing: Briefing },
  read: ReadSet,
  dependencies: RunDependencies,
): DeciderCall | ServiceError {
  const { row, resolved, state, briefing } = context;
  const deadline = monotonicOf(dependencies.clock, row.deadline.getTime());
  const named = { executionId: row.id, deadline, isHolding: row.holding };
  try {
    return {
      fingerprint: {
        ...fingerprintOf(resolved, state, read, briefing),
        ...(read.history && { readHistoryHash: read.history.hash }),
      },
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
async function storeAnswer(step: Step, { fingerprint, told, answer }: NonNullable<Step['drive']['given']>) {
  const { row, clock, lanes } = step;
  const columns = {
    state: isPaid(row) ? ('paid_decided' as const) : ('decided' as const),
    // What was told and an answer are JSON.
    basis: { ...fingerprint, ...(told && { told: { ...told } as unknown as JsonObject }) },
    proposal: { ...answer } as unknown as JsonObject,
  };
  const deadline = monotonicOf(clock, endOf(row));
  await lanes.submit(openItem(step, deadline, (open) => updateRun(row, open, columns, undefined)));
}

// decided

/** Rounds of one run: from the second on its reads are held, but its binding may still change. */
const MAX_ROUNDS = 5;

/** The answer would be refused on the same fingerprint again, so the decider has to give another. */
const UNUSABLE = 'unusable';

export async function applyStep(step: Step): Promise<void> {
  const outcome = await step.lanes.submit(runItem(step, applyAnswer));
  if (outcome === UNUSABLE) delete step.drive.given;
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
  // Stored by `storeAnswer`; by that of the release before without what was told.
  const answer = row.proposal as unknown as DeciderAnswer;
  const read = withTold(found.read, row.basis?.['told'] as Recalled | undefined);
  const decision = applyMutation(execution, read, answer.mutation, state.instances);
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
  return endRun(row, outcome, now, undefined, { status: 'settled' });
}
