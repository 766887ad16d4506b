import { isDeepStrictEqual } from 'node:util';
import { asServiceError, type JsonObject, ServiceError } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import { proposalOf } from '../execution/decide-proposal.js';
import { applyProposal, decideExecution, readForExecution } from '../execution/execute-event.js';
import type { Decision } from '../execution/execution.js';
import type { ReadSet } from '../execution/read-entities.js';
import type { Lanes } from '../lanes/lanes.js';
import { inTheWayOf } from '../state/open-runs.js';
import type { ItemOutcome, WorkItem } from '../state/work-item.js';
import type { Briefing } from './briefing.js';
import { type Answer, conclude, failedOutcome } from './conclude.js';
import { callDecider, type Decider, type DeciderAnswer, type DeciderRequest } from './decider.js';
import { type Evidence, entryEvidence, evidenceOfRun, withEvidence } from './evidence.js';
import type { ResolveDependencies } from './execution-item.js';
import { fingerprintOf, holdsOf, type ReadFingerprint, stillFits } from './read-fingerprint.js';
import {
  type BriefingDependencies,
  endRun,
  evidenceColumn,
  refuseRun,
  runItem,
  type StepContext,
  updateRun,
} from './run-item.js';
import type { RunRow } from './run-row.js';

export interface StepDependencies extends ResolveDependencies, BriefingDependencies {
  readonly catalog: ResolveDependencies['catalog'] & BriefingDependencies['catalog'];
  readonly lanes: Pick<Lanes, 'submit'>;
  readonly clock: Clock;
  readonly decider: Decider | undefined;
}

/** What the process remembers while it drives a run from step to step. */
export interface Drive {
  /** Times that the current step has failed, not counting what may pass by itself. */
  failures: number;
  /** The decider's answer and its fingerprint. Until it is stored, the decider is not called again for that fingerprint. */
  given?: { readonly fingerprint: ReadFingerprint; readonly answer: DeciderAnswer };
  ending?: Ending;
}

/** Why a run ends without an outcome of its own. */
export interface Ending {
  readonly reason: ServiceError;
  /** What the decision that failed has cost. */
  readonly evidence?: Evidence;
  /** The run has read, so it leaves a failed entry. A run that called its decider has always read. */
  readonly hasRead?: boolean;
}

/** Takes a run from the state in its row to the next one. Resolves once that is committed. */
export type Step = (
  dependencies: StepDependencies,
  row: RunRow,
  signal: AbortSignal,
  drive: Drive,
) => Promise<void>;

/**
 * The state machine of a run. A step is one or more items of the deployment's lane, each committed.
 *
 *   state      step                                                                   next state
 *   deciding   a template decides: read → decide → apply → check, one commit          succeeded | failed
 *   deciding   a decider decides: read; call the decider; store its answer with the   decided
 *              read fingerprint. From the second attempt on, the instances read
 *              are held before the decider is called.
 *   decided    the fingerprint still fits: apply → check the answer, one commit        succeeded | failed
 *   decided    the fingerprint does not fit: decide again                              deciding, holding
 *   staged     decided and waiting for its payment; nothing writes this state yet      succeeded | failed
 *   any        paused, unbound, overdue, or the decider failed                         failed
 *
 * A failure from *read* on leaves a failed entry. A refusal before it leaves the row only.
 */
export const STEPS: Readonly<Record<'deciding' | 'decided' | 'staged', Step | null>> = {
  deciding: decideStep,
  decided: applyStep,
  // Null: a staged run stays as it is, also when it is overdue, because no step settles its payment yet.
  staged: null,
};

/** States that have a step. */
export const STATES_WITH_STEP = (['deciding', 'decided', 'staged'] as const).filter(
  (state) => STEPS[state] !== null,
);

/** The step of a run; `undefined` when it has ended or waits for something else than a step. */
export const stepOf = ({ state }: Pick<RunRow, 'state'>): Step | undefined =>
  state === 'succeeded' || state === 'failed' ? undefined : (STEPS[state] ?? undefined);

// deciding

async function decideStep(...[dependencies, row, signal, drive]: Parameters<Step>): Promise<void> {
  const { lanes, decider, clock } = dependencies;
  const answer = await lanes.submit(runItem(dependencies, row, signal, readOrDecide));
  if (answer === undefined || !('fingerprint' in answer)) return;
  const { request, fingerprint } = answer;
  const known = isDeepStrictEqual(drive.given?.fingerprint, fingerprint) ? drive.given : undefined;
  drive.given = known ?? { fingerprint, answer: await callDecider(decider, request, clock, signal) };
  await lanes.submit(storeAnswer(row, signal, drive.given));
}

/** A call of the decider, and the fingerprint of what its request was made from. */
interface DeciderCall {
  readonly request: DeciderRequest;
  readonly fingerprint: ReadFingerprint;
}

function readOrDecide(context: StepContext): ItemOutcome<Answer | DeciderCall> {
  const { row, resolved, state, execution, briefing, details, now } = context;
  if (resolved.definition.mutation !== 'ai') {
    const decision = decideExecution(execution, state.instances);
    return endRun(row, conclude(resolved, execution, decision, details), now);
  }
  const found = readForExecution(execution, state.instances);
  if (found.kind !== 'read') return endRun(row, conclude(resolved, execution, found, details), now);
  if (briefing === 'prepare') return { kind: 'prepare' };
  const call = deciderCall(context, found.read, briefing);
  return row.holding ? hold(context, found.read, call) : { kind: 'answer', answer: call };
}

const deciderCall = (
  { row, resolved, state, execution }: StepContext,
  read: ReadSet,
  briefing: Briefing,
): DeciderCall => ({
  fingerprint: fingerprintOf(resolved, state, read, briefing),
  request: {
    executionId: row.id,
    deployment: execution.deployment,
    definition: resolved.definition.definition,
    ...briefing,
    input: execution.input,
    entities: read.entities,
    deadline: row.deadline.getTime(),
  },
});

/** Holds what was read, or waits until other runs have released it. */
function hold({ row, open, state }: StepContext, read: ReadSet, call: DeciderCall): ItemOutcome<DeciderCall> {
  const holds = holdsOf(read);
  const inTheWay = inTheWayOf(holds, state.runs, row.id);
  if (inTheWay !== undefined) return { kind: 'wait', for: inTheWay, toHold: true };
  return updateRun(row, { ...open, holds }, { holds: { ...holds } as never }, call);
}

/** Stores the decider's answer and the read fingerprint before anything is applied, so that it is paid for once. */
const storeAnswer = (
  row: RunRow,
  signal: AbortSignal,
  { fingerprint, answer }: NonNullable<Drive['given']>,
): WorkItem<undefined> => ({
  deploymentId: row.deployment_id,
  deadline: row.deadline.getTime(),
  signal,
  prepare: () => undefined,
  decide: (state) => {
    const open = state.runs.get(row.id);
    if (open === undefined) return { kind: 'answer', answer: undefined };
    // An answer is JSON.
    const proposal = { ...answer } as unknown as JsonObject;
    const basis = { ...fingerprint };
    return updateRun(row, open, { state: 'decided', basis, proposal }, undefined);
  },
});

// decided

/** Decisions of one run. From the second on its reads are held, but its binding may still change. */
const MAX_ATTEMPTS = 5;

async function applyStep(...[dependencies, row, signal]: Parameters<Step>): Promise<void> {
  await dependencies.lanes.submit(runItem(dependencies, row, signal, applyAnswer));
}

function applyAnswer(context: StepContext): ItemOutcome<Answer | undefined> {
  const { row, resolved, state, execution, briefing, details, now } = context;
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
  const decision = decisionOf(context, found.read, answer);
  return endRun(row, conclude(resolved, execution, decision, details), now);
}

function decisionOf({ execution, state }: StepContext, read: ReadSet, { mutation }: DeciderAnswer): Decision {
  try {
    return applyProposal(execution, read, proposalOf(mutation, 'model'), state.instances);
  } catch (error) {
    return { kind: 'failed', error: asServiceError(error) };
  }
}

function decideAgain({
  row,
  open,
  resolved,
  execution,
  details,
  now,
}: StepContext): ItemOutcome<Answer | undefined> {
  if (row.attempts >= MAX_ATTEMPTS) {
    const error = new ServiceError(
      'write_conflict',
      'The event or its instances change faster than it is decided.',
    );
    return endRun(row, failedOutcome(resolved, execution, error, details), now);
  }
  const evidence = evidenceColumn(evidenceOfRun(row));
  const columns = { state: 'deciding' as const, holding: true, attempts: row.attempts + 1, ...evidence };
  return updateRun(row, open, columns, undefined);
}

// failed

/** How long a run may take to record its failure, in milliseconds: it may be overdue already. */
const FAIL_TIMEOUT_MS = 10_000;

/**
 * Ends a run with its reason. If preparing the item fails (the catalog may be unavailable), it is not known what the run
 * would have executed, and only its row records the reason.
 */
export function failItem(
  dependencies: StepDependencies,
  row: RunRow,
  signal: AbortSignal,
  { reason, evidence, hasRead }: Ending,
): WorkItem<Answer | undefined> {
  const all = withEvidence(evidenceOfRun(row), evidence ?? null);
  const item = runItem<Answer>(dependencies, row, signal, ({ resolved, execution, now, details }) => {
    if (resolved.definition.mutation !== 'ai' && !hasRead) return refuseRun(row, reason, now);
    const recorded = { ...details, evidence: entryEvidence(all) };
    return endRun(row, failedOutcome(resolved, execution, reason, recorded), now, all);
  });
  let isUnknown = false;
  return {
    ...item,
    deadline: dependencies.clock.now() + FAIL_TIMEOUT_MS,
    prepare: async (state) => {
      isUnknown = await Promise.resolve(item.prepare(state)).then(
        () => false,
        () => true,
      );
    },
    decide: (state, ids, now) =>
      isUnknown && state.runs.has(row.id) ? refuseRun(row, reason, now, all) : item.decide(state, ids, now),
  };
}

/** Ends a run with a reason and nothing else: whatever else it would record cannot be stored. */
export const refuseItem = (
  { clock }: Pick<StepDependencies, 'clock'>,
  row: RunRow,
  signal: AbortSignal,
  reason: ServiceError,
): WorkItem<undefined> => ({
  deploymentId: row.deployment_id,
  deadline: clock.now() + FAIL_TIMEOUT_MS,
  signal,
  prepare: () => undefined,
  decide: (state, _ids, now) =>
    state.runs.has(row.id) ? refuseRun(row, reason, now, []) : { kind: 'answer', answer: undefined },
});
