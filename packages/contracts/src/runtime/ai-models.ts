import { z } from 'zod';
import { ordinal } from '../records/fields.js';
import { pageQuery } from '../records/pagination.js';
import { listOperation, route } from '../rpc/operation.js';

export const aiModelId = z.string().min(1).max(255).describe('Id of an AI model.');

export const aiModelRecord = z
  .strictObject({
    modelId: z.string().describe('What deployments name it by, in `aiModelId`.'),
    modelDisplayName: z.string().describe('Its name, for people.'),
    modelDescription: z.string().describe('What it is good for, for people.'),
    contextLength: ordinal.describe('Tokens that a prompt and its answer may have together.'),
    attestationSupported: z.boolean().describe('Whether its server attests its answers.'),
    verifiable: z.boolean().describe('Whether others can check these attestations.'),
    isDefault: z.boolean().describe('Whether it is the model of deployments that have chosen none.'),
  })
  .meta({ id: 'AiModel', description: 'A model that events may be executed with.' });
export type AiModelRecord = z.infer<typeof aiModelRecord>;

export const aiModelRpcs = {
  'aiModels.list': listOperation({
    http: route('GET', '/api/ai-models', 'AI models', 'List the AI models'),
    access: { scope: 'read', relation: 'account' },
    errors: ['page_too_deep'],
    query: pageQuery,
    item: aiModelRecord,
  }),
};
