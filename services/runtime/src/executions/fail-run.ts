import type { ExecutionAnswer, ServiceError } from '@orrery/contracts';
import type { Evidence } from '../models/evidence.js';
import type { DeploymentState } from '../state/deployment-state.js';
import type { WorkItem } from '../state/work-item.js';
import { failedOutcome } from './conclude.js';
import { entryEvidence, evidenceOfRun, withEvidence } from './run-evidence.js';
import { endRun, refuseRun, runItem } from './run-item.js';
import type { RunRow } from './run-row.js';
import type { StepDependencies } from './run-steps.js';

/** Why a run ends without an outcome of its own. */
export interface Ending {
  readonly reason: ServiceError;
  /** What the decision that failed has cost. */
  readonly evidence?: Evidence;
  /** The run has read, so it leaves a failed entry. A run that called its decider has always read. */
  readonly hasRead?: boolean;
}

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
export const refuseItem = (
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
