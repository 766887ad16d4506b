import type { ServiceError } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import { failed } from '../execution/conclude-execution.js';
import type { WorkItem } from '../state/work-item.js';
import { endingRun, refusedRun } from './end-run.js';
import type { RunRow } from './run-row.js';
import { runStep, type StepDependencies } from './run-step.js';

/** A run that is overdue is still given so long to say so, in milliseconds. */
const PATIENCE_MS = 10_000;

/** Ends a run with its reason. One that had asked outside has read: it leaves a failed entry. */
export function failStep(
  dependencies: StepDependencies & { readonly clock: Clock },
  row: RunRow,
  signal: AbortSignal,
  error: ServiceError,
): WorkItem<unknown> {
  const step = runStep(dependencies, row, signal, ({ resolved, execution, now, around }) =>
    resolved.definition.mutation === 'ai'
      ? endingRun(row, failed(resolved, execution, error, around), now)
      : refusedRun(row, error, new Date(now)),
  );
  let unknown = false;
  return {
    ...step,
    deadline: dependencies.clock.now() + PATIENCE_MS,
    prepare: async (state) => {
      unknown = await Promise.resolve(step.prepare(state)).then(
        () => false,
        () => true,
      );
    },
    // Without the catalog nobody can say what it would have run.
    decide: (state, ids, now) =>
      unknown && state.runs.has(row.id)
        ? refusedRun(row, error, new Date(now))
        : step.decide(state, ids, now),
  };
}
