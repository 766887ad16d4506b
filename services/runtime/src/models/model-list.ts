import { type AiModelRecord, ServiceError } from '@orrery/contracts';

/** The models that the operator offers. */
export interface ModelList {
  all(): readonly AiModelRecord[];
  /** The model of a deployment that has chosen none; `undefined` when there are no models. */
  default(): AiModelRecord | undefined;
}

export const createModelList = (models: readonly AiModelRecord[]): ModelList => ({
  all: () => models,
  default: () => models.find(({ isDefault }) => isDefault) ?? models[0],
});

/** @throws `unknown_ai_model` for a model that is not offered; null and absent choose none */
export function refuseUnknownModel(models: ModelList, modelId: string | null | undefined): void {
  if (modelId === null || modelId === undefined) return;
  if (models.all().some((model) => model.modelId === modelId)) return;
  throw new ServiceError('unknown_ai_model', `There is no AI model "${modelId}".`, {
    errors: [{ pointer: '/aiModelId', code: 'unknown_ai_model', message: 'There is no such AI model.' }],
  });
}
