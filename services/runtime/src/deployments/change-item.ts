import type { CallContext, DeploymentRecord, JournalKind, JsonObject } from '@orrery/contracts';
import type { Updateable } from 'kysely';
import type { RuntimeTables } from '../database/schema.js';
import { lifecycleEntry } from '../execution/lifecycle-entry.js';
import type { DeploymentState } from '../state/deployment-state.js';
import type { ItemOutcome, WorkItem } from '../state/work-item.js';
import type { KnownDeployment } from './deployment-directory.js';
import { toRecord } from './deployment-rules.js';

type Columns = Updateable<RuntimeTables['deployments']>;

/** A change of a deployment's own row, and the facts of its journal entry. */
export interface DeploymentChange {
  readonly kind: JournalKind;
  readonly facts: JsonObject;
  readonly columns: Columns;
}

/** The deployment as it now stands, and whether anything was done. */
export interface Changed {
  readonly record: DeploymentRecord;
  readonly changed: boolean;
}

/**
 * A change of the deployment itself. `decide` answers `undefined` when nothing is to change, `prepare` when the
 * preparation no longer fits, and throws the error that forbids the change.
 */
export function changeItem(
  deployment: KnownDeployment,
  { deadline, signal, caller }: CallContext,
  decide: (state: DeploymentState, at: Date) => DeploymentChange | 'prepare' | undefined,
  prepare: (state: DeploymentState) => Promise<void> | void = () => undefined,
): WorkItem<Changed> {
  return {
    deploymentId: deployment.id,
    deadline,
    signal,
    prepare,
    decide: (state, _ids, now): ItemOutcome<Changed> => {
      const at = new Date(now);
      const change = decide(state, at);
      if (change === 'prepare') return { kind: 'prepare' };
      if (change === undefined)
        return { kind: 'answer', answer: { record: toRecord(state.row), changed: false } };
      const entry = lifecycleEntry(change.kind, deployment.address, caller, now, change.facts);
      const row = { ...change.columns, updated_at: at };
      return {
        kind: 'commit',
        effects: { entry, row },
        answer: () => ({ reply: { record: toRecord(state.row), changed: true } }),
      };
    },
  };
}
