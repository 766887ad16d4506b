import { asServiceError, ServiceError } from '@orrery/contracts';
import { concluded, type Evidence, failed } from '../execution/conclude-execution.js';
import { proposalOf } from '../execution/decide-proposal.js';
import { applyProposal, readForExecution } from '../execution/execute-event.js';
import type { Decision as Decided } from '../execution/execution.js';
import type { ReadSet } from '../execution/read-entities.js';
import type { OpenRun } from '../state/deployment-state.js';
import type { ItemOutcome, WorkItem } from '../state/work-item.js';
import { basisOf } from './basis.js';
import { endingRun } from './end-run.js';
import type { OutsideAnswer } from './outside.js';
import type { RunRow } from './run-row.js';
import { runStep, type Standing, type StepDependencies } from './run-step.js';

/** Decisions of one run; from the second on nothing that it reads can change, but its binding still may. */
const MAX_ATTEMPTS = 5;

/** *Apply* → *check* → *commit* of the stored answer, if it still fits; otherwise the run is decided again, holding. */
export const applyStep = (
  dependencies: StepDependencies,
  row: RunRow,
  signal: AbortSignal,
): WorkItem<unknown> => runStep(dependencies, row, signal, (standing) => apply(row, standing));

function apply(row: RunRow, standing: Standing): ItemOutcome<unknown> {
  const { resolved, state, execution, now } = standing;
  // In this state the row has both.
  const answer = row.proposal as unknown as OutsideAnswer;
  const around = { ...standing.around, evidence: evidenceOf(answer) };
  const found = readForExecution(execution, state.instances);
  if (found.kind === 'needs') return { kind: 'needs', needs: found };
  const isFresh = found.kind === 'read' && basisOf(resolved, state, found.read).hash === row.basis?.['hash'];
  if (!isFresh) return decideAgain(row, standing);
  const decided = appliedTo(standing, found.read, answer);
  return endingRun(row, concluded(resolved, execution, decided, around), now);
}

function appliedTo({ execution, state }: Standing, read: ReadSet, { mutation }: OutsideAnswer): Decided {
  try {
    return applyProposal(execution, read, proposalOf(mutation, 'model'), state.instances);
  } catch (error) {
    return { kind: 'failed', error: asServiceError(error) };
  }
}

function decideAgain(
  row: RunRow,
  { resolved, state, execution, around, now }: Standing,
): ItemOutcome<unknown> {
  if (row.attempts >= MAX_ATTEMPTS) {
    const error = new ServiceError('write_conflict', 'what it runs changes faster than it can be decided');
    return endingRun(row, failed(resolved, execution, error, around), now);
  }
  const again = { state: 'deciding' as const, holding: true, attempts: row.attempts + 1 };
  return {
    kind: 'record',
    // Asked for in `runStep`.
    run: { id: row.id, open: state.runs.get(row.id) as OpenRun, write: { update: again } },
    settlement: { reply: undefined },
  };
}

const evidenceOf = ({ llm, llmHash, attestation }: OutsideAnswer): Evidence => ({
  llm: llm ?? null,
  llmHash: llmHash ?? null,
  attestation: attestation ?? null,
});
