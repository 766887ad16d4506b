import { z } from 'zod';
import { operation } from '../rpc/operation.js';
import { deploymentPath } from './deployment-path.js';

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

/** What requests to models cost; `usd` counts those of models without prices as 0. */
const cost = { calls: z.int(), inputTokens: z.int(), outputTokens: z.int(), usd: z.number() };

export const aiUsage = z
  .strictObject({
    from: z.string(),
    to: z.string(),
    totals: z.strictObject(cost),
    /** One item for each UTC day and event with a request, in this order. */
    days: z.array(z.strictObject({ day: z.string(), event: z.string(), ...cost })),
  })
  .meta({ id: 'AiUsage' });
export type AiUsage = z.infer<typeof aiUsage>;

/** UTC days that one answer covers at most. */
export const MAX_USAGE_DAYS = 92;

export const aiUsageRpcs = {
  'deployments.usage': operation({
    http: {
      method: 'GET',
      path: '/api/worlds/:worldAddress/deployments/:address/usage',
      status: 200,
      tag: 'AI models',
      summary: 'Get what AI models cost a deployment, by day and event',
    },
    access: { scope: 'read', relation: 'owner' },
    errors: ['deployment_not_found'],
    params: deploymentPath,
    /** Both inclusive; by default the 30 days until today. */
    query: z.strictObject({ from: day.optional(), to: day.optional() }),
    data: aiUsage,
  }),
};
