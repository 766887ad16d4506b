import { asServiceError } from '@orrery/contracts';
import type { CatalogClient } from '../catalog/catalog-client.js';
import type { Surroundings } from '../execution/conclude-execution.js';
import type { Execution } from '../execution/execution.js';
import {
  type Confirmed,
  confirmVersion,
  executionOf,
  type Resolved,
  resolveEvent,
} from '../execution/resolve-event.js';
import type { DeploymentState } from '../state/deployment-state.js';
import type { ItemOutcome, WorkItem } from '../state/work-item.js';
import { refusedRun } from './end-run.js';
import { type RunRow, requestOf, storedRequest } from './run-row.js';

export interface StepDependencies {
  readonly catalog: Pick<CatalogClient, 'version'>;
  readonly limits: { readonly instancesPerDeployment: number };
}

/** Where a step stands: the run with what it runs now, in the deployment as it now is. */
export interface Standing {
  readonly resolved: Resolved;
  readonly state: DeploymentState;
  readonly execution: Execution;
  readonly now: number;
  readonly around: Surroundings;
}

/**
 * One step of a run, in its deployment's lane, until the run's deadline. What may not run any more ends the run; a run
 * that has ended meanwhile is left alone.
 */
export function runStep(
  { catalog, limits }: StepDependencies,
  row: RunRow,
  signal: AbortSignal,
  decide: (standing: Standing) => ItemOutcome<unknown>,
): WorkItem<unknown> {
  const request = storedRequest(row);
  let confirmed: Confirmed;
  return {
    deploymentId: row.deployment_id,
    deadline: row.deadline.getTime(),
    signal,
    prepare: async (state) => {
      confirmed = await confirmVersion(catalog, state, request.event);
    },
    decide: (state, _ids, now) => {
      if (!state.runs.has(row.id)) return { kind: 'answer', answer: undefined };
      try {
        const resolved = resolveEvent(state, request.event, confirmed);
        if (resolved === 'prepare') return { kind: 'prepare' };
        const execution = executionOf(resolved, state, request, requestOf(row), limits, now);
        return decide({ resolved, state, execution, now, around: surroundingsOf(row, now) });
      } catch (error) {
        return refusedRun(row, asServiceError(error), new Date(now));
      }
    },
  };
}

export const surroundingsOf = (row: RunRow, now: number): Surroundings => ({
  elapsed: () => now - row.created_at.getTime(),
});
