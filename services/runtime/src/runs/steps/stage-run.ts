import type { JsonObject } from '@orrery/contracts';
import type { Success } from '../../core/deciding/execution.js';
import { type CheckedChange, changeKey } from '../../core/entries/entry.js';
import type { ItemOutcome } from '../../lane/items/work-item.js';
import type { Effects } from '../../store/commit/batch.js';
import { schemasCreatedBy } from '../../store/commit/stage-effects.js';
import { type Holds, inTheWayOf } from '../../store/state/deployment-state.js';
import { holdsOf } from '../requests/decider-request.js';
import { evidenceColumn, evidenceOfRun, type StepContext, updateRun } from './run-item.js';
import { requiredPayment, type StagedOutcome } from './staged-outcome.js';

/**
 * Stores what the run will commit, and holds at once what it has read and what it will change: from here on nothing can
 * make it go stale, and two staged runs cannot wait for each other. Claims on schemas are committed and room for new
 * instances is reserved, so nothing that could fail is left for after the settlement.
 */
export function stageRun(
  { row, open, state, now }: StepContext,
  { entry, durationMs, pushes, llm }: Effects,
  read: Pick<Success, 'reads' | 'wholeSchemas'>,
): ItemOutcome<undefined> {
  const holds = holdsFor(entry.changes, read);
  const inTheWay = inTheWayOf(holds, state.runs, row.id);
  if (inTheWay !== undefined && open.holds !== null) {
    // It waits without holding anything, and is decided again if what it read changes meanwhile.
    return updateRun(row, { ...open, holds: null }, { holds: null }, undefined);
  }
  if (inTheWay !== undefined) return { kind: 'wait', for: inTheWay, toHold: true };
  const staged: StagedOutcome = {
    entry,
    ...(durationMs !== undefined && { durationMs }),
    pushes: pushes ?? null,
    llm: llm ?? null,
  };
  const { key } = requiredPayment(row);
  const columns = { status: 'staged' as const, updated_at: new Date(now) };
  return {
    kind: 'record',
    run: {
      id: row.id,
      open: { ...open, holds, staged: true },
      write: {
        update: {
          state: 'staged',
          holds: { ...holds } as never,
          staged: { ...staged } as unknown as JsonObject,
          ...evidenceColumn(evidenceOfRun(row)),
        },
      },
    },
    payment: { kind: 'update', key, columns },
    claims: schemasCreatedBy({ entry }),
    settlement: { reply: undefined },
  };
}

function holdsFor(changes: readonly CheckedChange[], read: Pick<Success, 'reads' | 'wholeSchemas'>): Holds {
  const { instances, schemas } = holdsOf(read);
  const changed = changes.filter(({ entitySchema }) => !schemas.includes(entitySchema)).map(changeKey);
  const added = changes.reduce((sum, { op }) => sum + (op === 'create' ? 1 : op === 'delete' ? -1 : 0), 0);
  return { instances: [...new Set([...instances, ...changed])], schemas, room: Math.max(0, added) };
}
