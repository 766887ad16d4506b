import type { Budgets } from '../budgets/budgets.js';
import type { Execution } from '../execution/execution.js';
import type { ReadSet } from '../execution/read-entities.js';
import type { DeciderRequest } from '../models/decider.js';
import { type ModelList, usableModel } from '../models/model-list.js';
import type { DeploymentState } from '../state/deployment-state.js';
import type { Briefing } from './briefing.js';

export interface DeciderRequestDependencies {
  readonly models: Pick<ModelList, 'find'>;
  readonly budgets: Pick<Budgets, 'of'>;
}

/** What a decider is given; the check of its proposal is added outside the lane. */
export type UncheckedRequest = Omit<DeciderRequest, 'check'>;

/** What a decider is given of an execution that has read. @throws `ai_model_unavailable` */
export function deciderRequestOf(
  { models, budgets }: DeciderRequestDependencies,
  { execution, state, briefing }: { execution: Execution; state: DeploymentState; briefing: Briefing },
  read: ReadSet,
  named: Pick<DeciderRequest, 'executionId' | 'deadline' | 'isHolding'>,
): UncheckedRequest {
  const { definition, deployment, event, input } = execution;
  const { id: deploymentId, row } = state;
  const { executionId, deadline } = named;
  const accountId = row.owner_account_id;
  return {
    ...named,
    deployment,
    accountId,
    definition: definition.definition,
    world: briefing.world,
    model: usableModel(models, briefing.modelId),
    input,
    entities: read.entities,
    budget: budgets.of({
      executionId,
      deploymentId,
      accountId,
      event,
      dailyBudgetUsd: row.ai_daily_budget_usd,
      deadline,
    }),
  };
}
