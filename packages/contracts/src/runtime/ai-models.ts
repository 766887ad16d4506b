import { z } from 'zod';
import { operation } from '../rpc/operation.js';

/** A model that events may be executed with. */
export const aiModelRecord = z
  .strictObject({
    modelId: z.string(),
    modelDisplayName: z.string(),
    modelDescription: z.string(),
    contextLength: z.int(),
    attestationSupported: z.boolean(),
    verifiable: z.boolean(),
    isDefault: z.boolean(),
  })
  .meta({ id: 'AiModel' });
export type AiModelRecord = z.infer<typeof aiModelRecord>;

export const aiModelRpcs = {
  'aiModels.list': operation({
    http: {
      method: 'GET',
      path: '/api/ai-models',
      status: 200,
      tag: 'AI models',
      summary: 'List the AI models',
    },
    access: { scope: 'read', relation: 'account' },
    errors: [],
    data: z.array(aiModelRecord),
  }),
};
