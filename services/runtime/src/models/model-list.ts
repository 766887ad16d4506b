import { type AiModelRecord, ServiceError } from '@orrery/contracts';

/** The models that the operator offers. */
export interface ModelList {
  all(): readonly AiModelRecord[];
  /** What a deployment without a choice of its own uses; `undefined` when there are no models. */
  default(): AiModelRecord | undefined;
}

export const createModelList = (models: readonly AiModelRecord[]): ModelList => ({
  all: () => models,
  default: () => models.find(({ isDefault }) => isDefault) ?? models[0],
});

/** @throws `unknown_ai_model` for a model that is not offered; null and absent are no choice. */
export function refuseUnknownModel(models: ModelList, modelId: string | null | undefined): void {
  if (modelId === null || modelId === undefined) return;
  if (models.all().some((model) => model.modelId === modelId)) return;
  throw new ServiceError('unknown_ai_model', `there is no AI model "${modelId}"`, {
    errors: [{ pointer: '/aiModelId', code: 'unknown_ai_model', message: 'no such AI model' }],
  });
}
