import type { Divergence, InstanceChange, JsonObject } from '@orrery/contracts';
import { sameJson } from '../compare-states.js';
import { foldChange } from '../fold-changes.js';

/** A state as the fold, a kept state or the instance's row has it; `state` null: deleted or absent. */
export interface FoldedState {
  state: JsonObject | null;
  revision: number;
}

/** What else is stored about the instance after a change. */
export interface Evidence {
  /** The kept state of that very entry. */
  kept?: FoldedState | undefined;
  /** The instance's row, where this was its last change. */
  row?: FoldedState | undefined;
}

/** Folds one change onto the state before it and compares with what else is stored. */
export function checkFold(
  before: FoldedState | null,
  change: InstanceChange,
  { kept, row }: Evidence,
): { after: FoldedState } | { what: Divergence['what'] } {
  const after = folded(before, change);
  if (after === undefined) return { what: 'impossible_change' };
  if (kept !== undefined && !same(kept, after)) return { what: 'kept_state_differs' };
  if (row !== undefined && !same(row, after)) return { what: 'instance_differs' };
  return { after };
}

function folded(before: FoldedState | null, change: InstanceChange): FoldedState | undefined {
  const present = before !== null && before.state !== null;
  if (change.revision !== (present ? before.revision : 0) + 1) return undefined;
  try {
    return { state: foldChange(before?.state ?? null, change), revision: change.revision };
  } catch {
    return undefined;
  }
}

/** A deleted instance has no revision any more. */
const same = (a: FoldedState, b: FoldedState): boolean =>
  a.state === null || b.state === null
    ? a.state === b.state
    : a.revision === b.revision && sameJson(a.state, b.state);
