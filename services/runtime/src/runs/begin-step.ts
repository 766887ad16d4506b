import { concluded, decideDirectly } from '../execution/conclude-execution.js';
import { readForExecution } from '../execution/execute-event.js';
import type { ReadSet } from '../execution/read-entities.js';
import type { Holds, OpenRun } from '../state/deployment-state.js';
import { canHold } from '../state/holds.js';
import type { ItemOutcome, WorkItem } from '../state/work-item.js';
import { basisOf, holdsOf } from './basis.js';
import { endingRun } from './end-run.js';
import type { OutsideRequest } from './outside.js';
import type { RunRow } from './run-row.js';
import { runStep, type Standing, type StepDependencies } from './run-step.js';

/** What the world outside is to be asked, and what the question was made of. */
export interface Question {
  readonly request: OutsideRequest;
  readonly basis: ReturnType<typeof basisOf>;
}

/**
 * *Read*, as the last item left the deployment: answers what to ask, `undefined` when the run has ended. A direct
 * version is executed whole. The second time the run holds what it reads first, and waits for it if it must.
 */
export const beginStep = (
  dependencies: StepDependencies,
  row: RunRow,
  signal: AbortSignal,
): WorkItem<Question | undefined> =>
  runStep(dependencies, row, signal, (standing) => begin(row, standing)) as WorkItem<Question | undefined>;

function begin(row: RunRow, standing: Standing): ItemOutcome<unknown> {
  const { resolved, state, execution, now, around } = standing;
  if (resolved.definition.mutation !== 'ai') {
    return endingRun(row, decideDirectly(resolved, state, execution, around), now);
  }
  const found = readForExecution(execution, state.instances);
  if (found.kind !== 'read') return endingRun(row, concluded(resolved, execution, found, around), now);
  const question = questionOf(row, standing, found.read);
  if (!row.holding) return { kind: 'answer', answer: question };
  return hold(row, standing, holdsOf(found.read), question);
}

function hold(row: RunRow, { state }: Standing, holds: Holds, question: Question): ItemOutcome<unknown> {
  if (!canHold(holds, state.runs, row.id)) return { kind: 'wait' };
  // Asked for in `runStep`.
  const open: OpenRun = { ...(state.runs.get(row.id) as OpenRun), holds };
  return {
    kind: 'record',
    run: { id: row.id, open, write: { update: { holds: { ...holds } as never } } },
    settlement: { reply: question },
  };
}

const questionOf = (row: RunRow, { resolved, state, execution }: Standing, read: ReadSet): Question => ({
  basis: basisOf(resolved, state, read),
  request: {
    executionId: row.id,
    deployment: execution.deployment,
    definition: resolved.definition.definition,
    input: execution.input,
    entities: read.entities,
    deadline: row.deadline.getTime(),
  },
});
