import type { JsonObject } from '@orrery/contracts';
import type { OpenRun } from '../state/deployment-state.js';
import type { WorkItem } from '../state/work-item.js';
import type { Question } from './begin-step.js';
import type { OutsideAnswer } from './outside.js';
import type { RunRow } from './run-row.js';

/** Stores the accepted answer and what it was made on, before it is applied: it is asked for and paid for once. */
export const keepStep = (
  row: RunRow,
  signal: AbortSignal,
  { basis }: Question,
  answer: OutsideAnswer,
): WorkItem<unknown> => ({
  deploymentId: row.deployment_id,
  deadline: row.deadline.getTime(),
  signal,
  prepare: () => undefined,
  decide: (state) => {
    const open: OpenRun | undefined = state.runs.get(row.id);
    if (open === undefined) return { kind: 'answer', answer: undefined };
    // An answer is JSON.
    const proposal = { ...answer } as unknown as JsonObject;
    return {
      kind: 'record',
      run: { id: row.id, open, write: { update: { state: 'decided', basis, proposal } } },
      settlement: { reply: undefined },
    };
  },
});
