import { asServiceError, type JsonObject, ServiceError } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import { proposalOf } from '../execution/decide-proposal.js';
import { applyProposal, decideExecution, readForExecution } from '../execution/execute-event.js';
import type { Decision } from '../execution/execution.js';
import type { ReadSet } from '../execution/read-entities.js';
import type { Lanes } from '../lanes/lanes.js';
import { canHold } from '../state/holds.js';
import type { ItemOutcome, WorkItem } from '../state/work-item.js';
import { type Answer, conclude, type Evidence, failedOutcome } from './conclude.js';
import { callDecider, type Decider, type DeciderAnswer, type DeciderRequest } from './decider.js';
import type { ResolveDependencies } from './execution-item.js';
import { fingerprintOf, holdsOf, type ReadFingerprint } from './read-fingerprint.js';
import { endRun, refuseRun, runItem, type StepContext, updateRun } from './run-item.js';
import type { RunRow } from './run-row.js';

export interface StepDependencies extends ResolveDependencies {
  readonly lanes: Pick<Lanes, 'submit'>;
  readonly clock: Clock;
  readonly decider: Decider | undefined;
}

/** Takes a run from the state in its row to the next one. Resolves once that is committed. */
export type Step = (dependencies: StepDependencies, row: RunRow, signal: AbortSignal) => Promise<void>;

/**
 * The state machine of a run. A step is one or more items of the deployment's lane, each committed.
 *
 *   state      step                                                                   next state
 *   deciding   a template decides: read → decide → apply → check, one commit          succeeded | failed
 *   deciding   a decider decides: read; call the decider; store its answer with the   decided
 *              read fingerprint. From the second time on, hold what is read first.
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
  // Null: a staged run is left alone, also when it is overdue, until settlement (`payment/`) has a step for it.
  staged: null,
};

/** States that a step leads on from. */
export const STATES_WITH_STEP = (['deciding', 'decided', 'staged'] as const).filter(
  (state) => STEPS[state] !== null,
);

/** The step of a run; `undefined` when it has ended or waits for something else than a step. */
export const stepOf = ({ state }: Pick<RunRow, 'state'>): Step | undefined =>
  state === 'succeeded' || state === 'failed' ? undefined : (STEPS[state] ?? undefined);

// deciding

async function decideStep(dependencies: StepDependencies, row: RunRow, signal: AbortSignal): Promise<void> {
  const { lanes, decider, clock } = dependencies;
  const answer = await lanes.submit(runItem(dependencies, row, signal, readOrDecide));
  if (answer === undefined || !('fingerprint' in answer)) return;
  const { request, fingerprint } = answer;
  await lanes.submit(
    storeAnswer(row, signal, fingerprint, await callDecider(decider, request, clock, signal)),
  );
}

/** A call of the decider, and the fingerprint of what its request was made from. */
interface DeciderCall {
  readonly request: DeciderRequest;
  readonly fingerprint: ReadFingerprint;
}

function readOrDecide(context: StepContext): ItemOutcome<Answer | DeciderCall> {
  const { row, resolved, state, execution, details, now } = context;
  if (resolved.definition.mutation !== 'ai') {
    const decision = decideExecution(execution, state.instances);
    return endRun(row, conclude(resolved, execution, decision, details), now);
  }
  const found = readForExecution(execution, state.instances);
  if (found.kind !== 'read') return endRun(row, conclude(resolved, execution, found, details), now);
  const call = deciderCall(context, found.read);
  return row.holding ? hold(context, found.read, call) : { kind: 'answer', answer: call };
}

const deciderCall = ({ row, resolved, state, execution }: StepContext, read: ReadSet): DeciderCall => ({
  fingerprint: fingerprintOf(resolved, state, read),
  request: {
    executionId: row.id,
    deployment: execution.deployment,
    definition: resolved.definition.definition,
    input: execution.input,
    entities: read.entities,
    deadline: row.deadline.getTime(),
  },
});

/** Holds what was read, or waits until other runs have released it. */
function hold({ row, open, state }: StepContext, read: ReadSet, call: DeciderCall): ItemOutcome<DeciderCall> {
  const holds = holdsOf(read);
  if (!canHold(holds, state.runs, row.id)) return { kind: 'wait' };
  return updateRun(row, { ...open, holds }, { holds: { ...holds } as never }, call);
}

/** Stores the decider's answer and the read fingerprint before anything is applied, so that it is paid for once. */
const storeAnswer = (
  row: RunRow,
  signal: AbortSignal,
  basis: ReadFingerprint,
  answer: DeciderAnswer,
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
    return updateRun(row, open, { state: 'decided', basis, proposal }, undefined);
  },
});

// decided

/** Decisions of one run. From the second on its reads are held, but its binding may still change. */
const MAX_ATTEMPTS = 5;

async function applyStep(dependencies: StepDependencies, row: RunRow, signal: AbortSignal): Promise<void> {
  await dependencies.lanes.submit(runItem(dependencies, row, signal, applyAnswer));
}

function applyAnswer(context: StepContext): ItemOutcome<Answer | undefined> {
  const { row, resolved, state, execution, now } = context;
  const found = readForExecution(execution, state.instances);
  if (found.kind === 'needs') return { kind: 'needs', needs: found };
  const isFresh =
    found.kind === 'read' && fingerprintOf(resolved, state, found.read).hash === row.basis?.['hash'];
  if (!isFresh) return decideAgain(context);
  // Stored by `storeAnswer`.
  const answer = row.proposal as unknown as DeciderAnswer;
  const decision = decisionOf(context, found.read, answer);
  const details = { ...context.details, evidence: evidenceOf(answer) };
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
  return updateRun(row, open, { state: 'deciding', holding: true, attempts: row.attempts + 1 }, undefined);
}

const evidenceOf = ({ llm, llmHash, attestation }: DeciderAnswer): Evidence => ({
  llm: llm ?? null,
  llmHash: llmHash ?? null,
  attestation: attestation ?? null,
});

// failed

/** How long a run may take to record its failure, in milliseconds: it may be overdue already. */
const FAIL_TIMEOUT_MS = 10_000;

/** Ends a run with an error. A run that called its decider has read, so it leaves a failed entry. */
export function failItem(
  dependencies: StepDependencies,
  row: RunRow,
  signal: AbortSignal,
  error: ServiceError,
): WorkItem<Answer | undefined> {
  const item = runItem<Answer>(dependencies, row, signal, ({ resolved, execution, now, details }) =>
    resolved.definition.mutation === 'ai'
      ? endRun(row, failedOutcome(resolved, execution, error, details), now)
      : refuseRun(row, error, now),
  );
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
    // Without the catalog it is not known what the run would have executed.
    decide: (state, ids, now) =>
      isUnknown && state.runs.has(row.id) ? refuseRun(row, error, now) : item.decide(state, ids, now),
  };
}
