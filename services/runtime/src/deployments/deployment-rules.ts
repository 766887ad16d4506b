import { type DeploymentRecord, ServiceError } from '@orrery/contracts';
import { type DeploymentRow, isPaused } from '../state/deployment-state.js';

export const notFound = (): ServiceError =>
  new ServiceError(
    'deployment_not_found',
    'No deployment that you may see has this address or id, in this world. A path takes no name.',
  );

const LOCKED =
  'The deployment is locked for ever: its bindings and its AI model stay as they are, its instances change by executions ' +
  'alone, and it cannot be deleted. To go on with other ones, create a deployment that names this one as sourceDeployment.';

/** What is fixed in a locked deployment (docs/execution.md, "Locked deployments"). @throws `deployment_locked` */
export function refuseLocked({ mode }: Pick<DeploymentRow, 'mode'>): void {
  if (mode === 'locked') throw new ServiceError('deployment_locked', LOCKED);
}

export const toRecord = (row: DeploymentRow): DeploymentRecord => ({
  id: row.id,
  address: row.address,
  worldId: row.world_id,
  worldAddress: row.world_address,
  name: row.name,
  description: row.description,
  mode: row.mode,
  isPublic: row.is_public,
  isPaused: isPaused(row),
  isLLMPublic: row.is_llm_public,
  aiModelId: row.ai_model_id,
  aiDailyBudgetUsd: row.ai_daily_budget_usd,
  payToAddress: row.pay_to_address,
  lockedAt: row.locked_at?.toISOString() ?? null,
  definitionHash: row.definition_hash,
  source: row.source,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});
