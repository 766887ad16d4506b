import type { JsonObject, ServiceError } from '@orrery/contracts';
import { applyMutation, readForExecution } from '../execution/execute-event.js';
import type { Decision } from '../execution/execution.js';
import type { CheckProposal } from '../models/decider.js';
import type { ItemOutcome, WorkItem } from '../state/work-item.js';
import { fingerprintOf, type ReadFingerprint, stillFits } from './read-fingerprint.js';
import { runItem, type StepContext } from './run-item.js';
import type { RunRow } from './run-row.js';
import type { StepDependencies } from './run-steps.js';

/** Checks proposals for a run in its deployment's lane. What else may end the run is left to its next step. */
export const checkForRun =
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

/** Why a decision on a proposal is refused as invalid output, if it is. */
export function verdictOf(decision: Decision): ItemOutcome<string | undefined> {
  if (decision.kind === 'needs') return { kind: 'needs', needs: decision };
  const isInvalid = decision.kind === 'failed' && decision.error.code === 'ai_output_invalid';
  return { kind: 'answer', answer: isInvalid ? reasonOf(decision.error) : undefined };
}

const withoutCommit = (item: WorkItem<string | undefined>): WorkItem<string | undefined> => ({
  ...item,
  decide: (state, ids, now) => {
    const outcome = item.decide(state, ids, now);
    return outcome.kind === 'record' ? { kind: 'answer', answer: undefined } : outcome;
  },
});

/** All that is known to be wrong, one problem a line. */
const reasonOf = ({ message, errors }: ServiceError): string =>
  errors.length < 2 ? message : errors.map((problem) => `${problem.pointer}: ${problem.message}`).join('\n');
