import { z } from 'zod';
import { wholePageQuery } from '../paging/pagination.js';
import { listOperation } from '../rpc/operation.js';

export const aiModelId = z.string().min(1).max(255);

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
  'aiModels.list': listOperation({
    http: {
      method: 'GET',
      path: '/api/ai-models',
      status: 200,
      tag: 'AI models',
      summary: 'List the AI models',
    },
    access: { scope: 'read', relation: 'account' },
    errors: ['page_too_deep'],
    query: wholePageQuery,
    item: aiModelRecord,
  }),
};
