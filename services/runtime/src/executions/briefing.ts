import { ServiceError, type WorldTexts } from '@orrery/contracts';
import type { CatalogClient } from '../catalog/catalog-client.js';
import type { ModelList } from '../models/model-list.js';
import { type DeploymentRow, type DeploymentState, lockedDefinitionOf } from '../state/deployment-state.js';
import type { Confirmed } from './execution-request.js';

/** The part of a decider's request that comes from the world and the model list. A lock fixes it. */
export interface Briefing {
  readonly world: WorldTexts;
  readonly modelId: string | null;
}

/** The world's texts as they are now, where a decider needs them. @throws `world_not_found` */
export async function confirmTexts(
  catalog: Pick<CatalogClient, 'world'>,
  { row }: DeploymentState,
  confirmed: Confirmed,
): Promise<WorldTexts | undefined> {
  if (confirmed?.definition?.mutation !== 'ai' || row.mode === 'locked') return undefined;
  const texts = await catalog.world(row.world_id);
  if (texts === undefined) throw new ServiceError('world_not_found');
  return texts;
}

/** The briefing in the deployment's current state; 'prepare' when the texts have not been confirmed. */
export function briefingOf(
  { row }: DeploymentState,
  confirmed: WorldTexts | undefined,
  models: Pick<ModelList, 'default'>,
): Briefing | 'prepare' {
  const world = lockedDefinitionOf(row)?.world ?? confirmed;
  return world === undefined ? 'prepare' : { world, modelId: modelIdOf(row, models) };
}

/** The locked or chosen model, or the default; null where there is none. */
export function modelIdOf(row: DeploymentRow, models: Pick<ModelList, 'default'>): string | null {
  const locked = lockedDefinitionOf(row);
  return locked === undefined ? (row.ai_model_id ?? models.default()?.modelId ?? null) : locked.aiModelId;
}
