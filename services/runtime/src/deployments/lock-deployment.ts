import {
  type CallContext,
  canonicalHash,
  type JsonObject,
  type VersionDefinition,
  type WorldTexts,
} from '@orrery/contracts';
import type { CatalogClient } from '../catalog/catalog-client.js';
import type { ModelList } from '../models/model-list.js';
import type { DeploymentState, LockedDefinition } from '../state/deployment-state.js';
import type { WorkItem } from '../state/work-item.js';
import { type Changed, changeItem } from './change-item.js';
import type { KnownDeployment } from './deployment-directory.js';

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
        state.row.ai_model_id ?? models.default()?.modelId ?? null,
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

export const lockedDefinition = (
  definitions: readonly VersionDefinition[],
  world: WorldTexts,
  aiModelId: string | null,
): LockedDefinition => ({
  world,
  aiModelId,
  bindings: definitions
    .map(({ event, version, versionHash }) => ({ event, eventVersion: version, versionHash }))
    .sort((a, b) => (a.event < b.event ? -1 : 1)),
});

export const lockedColumns = (definition: LockedDefinition, at: Date) => ({
  mode: 'locked' as const,
  locked_at: at,
  ai_model_id: definition.aiModelId,
  definition_hash: canonicalHash(asJson(definition)),
  locked_definition: asJson(definition),
});

const asJson = (definition: LockedDefinition): JsonObject => definition as unknown as JsonObject;
