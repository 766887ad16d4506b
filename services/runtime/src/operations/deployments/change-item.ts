import {
  type CallContext,
  type DeploymentRecord,
  type FieldProblem,
  fieldProblem,
  type JournalKind,
  type JsonObject,
  refusal,
  type VersionDefinition,
  type WorldTexts,
} from '@orrery/contracts';
import type { Updateable } from 'kysely';
import { lifecycleEntry } from '../../core/deciding/lifecycle-entry.js';
import { defaultModelId, type ModelList } from '../../core/models/model.js';
import type { CatalogClient } from '../../lane/catalog/catalog-client.js';
import type { ItemOutcome, WorkItem } from '../../lane/items/work-item.js';
import { type KnownDeployment, toRecord } from '../../store/deployments/deployment-directory.js';
import { type DeploymentState, lockedColumns, lockedDefinition } from '../../store/state/deployment-state.js';
import type { RuntimeTables } from '../../store/tables/schema.js';
import { type BodyLimits, listProblems } from '../bindings/binding-rules.js';

/** Locks the versions in the catalog first, so a repeated lock completes one that was interrupted. */
export function lockItem(
  { catalog, models }: { catalog: Pick<CatalogClient, 'lock'>; models: ModelList },
  deployment: KnownDeployment,
  call: CallContext,
): WorkItem<Changed> {
  let locked: { definitions: VersionDefinition[]; world: WorldTexts } | undefined;
  const prepare = async (state: DeploymentState) => {
    const ids = [...state.bindings.values()].map(({ versionId }) => versionId);
    locked = state.row.mode === 'locked' ? undefined : await catalog.lock(deployment.worldId, ids);
  };
  return changeItem(
    deployment,
    call,
    (state, at) => {
      if (state.row.mode === 'locked') return undefined;
      if (locked === undefined || !coversAll(locked.definitions, state)) return 'prepare';
      const definition = lockedDefinition(
        locked.definitions,
        locked.world,
        state.row.ai_model_id ?? defaultModelId(models),
      );
      const columns = lockedColumns(definition, at);
      return { kind: 'locked', facts: { definitionHash: columns.definition_hash }, columns };
    },
    prepare,
  );
}

/** Exactly the bound versions: a binding may have changed meanwhile. */
function coversAll(definitions: readonly VersionDefinition[], { bindings }: DeploymentState): boolean {
  const locked = new Set(definitions.map(({ versionId }) => versionId));
  return (
    bindings.size === locked.size && [...bindings.values()].every(({ versionId }) => locked.has(versionId))
  );
}

type Columns = Updateable<RuntimeTables['deployments']>;

/** A change of a deployment's own row, and the facts of its journal entry. */
export interface DeploymentChange {
  readonly kind: JournalKind;
  readonly facts: JsonObject;
  readonly columns: Columns;
}

interface Changed {
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

interface LargeBody {
  readonly description?: string | null | undefined;
  readonly bindings?: readonly unknown[];
}

/** Holds a body to the operator's limits. @throws ServiceError `validation_failed` with pointers */
export function refuseLargeBody({ description, bindings = [] }: LargeBody, limits: BodyLimits): void {
  const problems = [
    ...descriptionProblems(description ?? '', limits),
    ...listProblems(bindings, '/bindings', limits),
  ];
  if (problems.length > 0) throw refusal(problems, 'The body');
}

function descriptionProblems(description: string, { descriptionBytes }: BodyLimits): FieldProblem[] {
  if (Buffer.byteLength(description) <= descriptionBytes) return [];
  const message = `A description may have at most ${descriptionBytes / 1024} KiB.`;
  return [fieldProblem('/description', 'too_large', message)];
}
