import { z } from 'zod';
import { DEPLOYMENT_PATH, IN_DEPLOYMENT } from '../names/names.js';
import { count, ordinal, storedName } from '../records/fields.js';
import { OF_ACCOUNT, operationsAt } from '../rpc/operation.js';

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
  'aiModels.list': operationsAt('/api/ai-models', 'AI models', { access: OF_ACCOUNT }).list(
    '',
    'List the AI models',
    { item: aiModelRecord },
  ),
};

/** `Date.parse` takes 2026-02-31 for a day of March. */
function isDay(text: string): boolean {
  const parsed = Date.parse(text);
  return parsed >= 0 && new Date(parsed).toISOString().startsWith(text);
}

/** A UTC day, such as `2026-11-22`. */
const day = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}$/, 'A day is required, such as 2026-11-22.')
  .refine(isDay, 'There is no such day since 1970.')
  .meta({ format: 'date', example: '2026-11-22' });

const cost = {
  calls: count.describe('Requests to models.'),
  inputTokens: count.describe('Tokens of their prompts.'),
  outputTokens: count.describe('Tokens of their answers.'),
  usd: z.number().min(0).describe('Their cost in US dollars. Models without prices count as 0.'),
};

export const aiUsage = z
  .strictObject({
    from: z.string().meta({ format: 'date', description: 'The first UTC day that is covered.' }),
    to: z.string().meta({ format: 'date', description: 'The last UTC day that is covered.' }),
    totals: z.strictObject(cost).describe('The sums over all days.'),
    days: z
      .array(
        z.strictObject({
          day: z.string().meta({ format: 'date', description: 'The UTC day.' }),
          event: storedName.describe('Name of the event.'),
          ...cost,
        }),
      )
      .describe('One item for each UTC day and event with a request, in this order.'),
  })
  .meta({ id: 'AiUsage', description: 'What AI models cost a deployment, dry runs included.' });
export type AiUsage = z.infer<typeof aiUsage>;

/** UTC days that one answer covers at most. */
export const MAX_USAGE_DAYS = 92;

export const aiUsageRpcs = {
  'deployments.usage': operationsAt(DEPLOYMENT_PATH, 'AI models', IN_DEPLOYMENT).read(
    '/usage',
    'Get what AI models cost a deployment, by day and event, also once it is deleted',
    {
      access: { scope: 'read', relation: 'owner' },
      query: z.strictObject({
        from: day
          .optional()
          .describe(
            `The first UTC day, at most ${MAX_USAGE_DAYS - 1} days before \`to\`. Absent: 29 days before.`,
          ),
        to: day.optional().describe('The last UTC day. Absent: today.'),
      }),
      data: aiUsage,
    },
  ),
};
