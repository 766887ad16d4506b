import { type AiModelRecord, didYouMean, ServiceError } from '@orrery/contracts';
import { isPriced, type Model } from '../../core/models/model.js';

/** The models that the operator offers. */
export interface ModelList {
  all(): readonly AiModelRecord[];
  /** The model of a deployment that has chosen none; `undefined` when the list marks none as its default. */
  default(): AiModelRecord | undefined;
  find(modelId: string): Model | undefined;
}

/** A list whose models the operator may change while the process runs. */
export interface LiveModelList extends ModelList {
  replace(models: readonly Model[]): void;
  /** The longest time limit of one call, in milliseconds. */
  longestCallMs(): number;
}

export function createModelList(models: readonly Model[]): LiveModelList {
  let offered = models;
  let records = models.map(({ record }) => record);
  return {
    all: () => records,
    default: () => records.find(({ isDefault }) => isDefault),
    find: (modelId) => offered.find(({ record }) => record.modelId === modelId),
    longestCallMs: () => Math.max(0, ...offered.map(({ timeoutMs }) => timeoutMs)),
    replace: (others) => {
      offered = others;
      records = others.map(({ record }) => record);
    },
  };
}

/** @throws `unknown_ai_model` for a model that is not offered; null and absent choose none */
export function refuseUnknownModel(
  models: ModelList,
  modelId: string | null | undefined,
  pointer = '/aiModelId',
): void {
  if (modelId === null || modelId === undefined) return;
  if (models.find(modelId) !== undefined) return;
  const known = models.all().map((model) => model.modelId);
  const message = `There is no AI model "${modelId}".${didYouMean(modelId, known)} GET /api/ai-models lists them.`;
  throw new ServiceError('unknown_ai_model', message, {
    errors: [{ pointer, code: 'unknown_ai_model', message }],
  });
}

/**
 * A budget bounds what a model costs, so the model needs prices. A model that is not offered is left to whoever calls it.
 * @throws `ai_model_unpriced`
 */
export function refuseUnpriced(
  models: ModelList,
  modelId: string | null,
  dailyBudgetUsd: number | null,
  pointer: '/aiModelId' | '/aiDailyBudgetUsd',
): void {
  const id = modelId ?? models.default()?.modelId;
  const model = id === undefined ? undefined : models.find(id);
  if (dailyBudgetUsd === null || model === undefined || isPriced(model)) return;
  const message = `The AI model "${id}" has no prices, so no budget can bound what it costs.`;
  throw new ServiceError('ai_model_unpriced', message, {
    errors: [{ pointer, code: 'ai_model_unpriced', message }],
  });
}

/** The model with this id. @throws `ai_model_unavailable` for null and for a model that is not offered (any more) */
export function usableModel(models: Pick<ModelList, 'find'>, modelId: string | null): Model {
  if (modelId === null)
    throw new ServiceError(
      'ai_model_unavailable',
      'The deployment has chosen no AI model, and this service has no default. GET /api/ai-models lists what can be chosen.',
    );
  const model = models.find(modelId);
  if (model !== undefined) return model;
  throw new ServiceError(
    'ai_model_unavailable',
    `The AI model "${modelId}" is not offered any more. An upgradable deployment can choose another one.`,
  );
}
