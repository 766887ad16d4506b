import { z } from 'zod';
import { DEPLOYMENT_PATH, IN_DEPLOYMENT } from '../names/names.js';
import { count, nullableText, ordinal, storedName, timestamp } from '../records/fields.js';
import { operationsAt } from '../rpc/operation.js';
import { paymentTotal } from './payments.js';

/** What an overview looks back on: so many steps of so many seconds, which begin at multiples of that; the last holds now. */
export const OVERVIEW_SPANS = {
  hour: { stepSeconds: 60, steps: 60 },
  day: { stepSeconds: 1800, steps: 48 },
  month: { stepSeconds: 86_400, steps: 30 },
} as const;
export type OverviewSpan = keyof typeof OVERVIEW_SPANS;

/** Events that an overview names: the most frequent. */
export const MOST_EVENTS = 200;
/** Codes that it names, and events of each. */
export const MOST_CODES = 100;
export const MOST_EVENTS_OF_CODE = 20;

const outcomes = {
  succeeded: count.describe('Executions that succeeded.'),
  failed: count.describe('Executions that failed.'),
};
const milliseconds = z.number().min(0).nullable();

export const deploymentOverview = z
  .strictObject({
    of: z.enum(['hour', 'day', 'month']).describe('What it looks back on.'),
    stepSeconds: ordinal.describe('How long a step is, in seconds.'),
    steps: z
      .array(z.strictObject({ at: timestamp.describe('When the step begins.'), ...outcomes }))
      .max(60)
      .describe('All steps, the oldest first; the last one is under way.'),
    events: z
      .array(
        z.strictObject({
          event: storedName.describe('Name of the event.'),
          ...outcomes,
          medianMs: milliseconds.describe(
            'Milliseconds within which half of its executions were decided, to 10 %. Null: not known.',
          ),
          p95Ms: milliseconds.describe('The same of 95 % of them.'),
          usd: z
            .number()
            .min(0)
            .nullable()
            .describe('What models cost for them in US dollars. Null: none with a price was asked.'),
        }),
      )
      .max(MOST_EVENTS)
      .describe('The events that were executed, the most frequent first.'),
    failures: z
      .array(
        z.strictObject({
          code: z.string().describe('The code of the error.'),
          count: ordinal.describe('Executions that failed with it.'),
          events: z.array(storedName).max(MOST_EVENTS_OF_CODE).describe('Events of which, by name.'),
        }),
      )
      .max(MOST_CODES)
      .describe('What executions failed with, the most frequent first.'),
    latestFailure: z
      .strictObject({
        seq: ordinal.describe('Its entry in the journal.'),
        event: storedName.describe('Name of its event.'),
        executedAt: timestamp.describe('When it was committed.'),
        code: z.string().describe('The code of its error.'),
        detail: nullableText.describe('Why, for people.'),
      })
      .nullable()
      .describe('The last execution that failed in this time. Null: none did.'),
    countedTo: count.describe('The last entry of the journal that is counted.'),
    isBehind: z
      .boolean()
      .describe(
        'Whether later entries are there, which the next call counts: a call counts for a second at most.',
      ),
    timers: z
      .strictObject({
        pending: count.describe('Timers that are to come.'),
        overdue: count.describe('Those of them that have been due for a minute, and are not under way.'),
        nextDueAt: timestamp.nullable().describe('When the next one is due. Null: there is none.'),
      })
      .nullable()
      .describe('Null: only the owner is told.'),
    payments: z
      .array(paymentTotal)
      .nullable()
      .describe('All payments by asset and status. Null: only the owner is told.'),
    modelsUsdToday: z
      .number()
      .min(0)
      .nullable()
      .describe(
        'What models have cost in this UTC day, dry runs included, in US dollars. Null: only the owner is told.',
      ),
  })
  .meta({ id: 'DeploymentOverview', description: 'How a deployment goes.' });
export type DeploymentOverview = z.infer<typeof deploymentOverview>;

export const overviewRpcs = {
  'deployments.overview': operationsAt(DEPLOYMENT_PATH, 'Deployments', IN_DEPLOYMENT).read(
    '/overview',
    'Get how a deployment goes: executions by step, event and failure, and what waits',
    {
      query: z.strictObject({
        of: deploymentOverview.shape.of
          .default('day')
          .describe(
            'What it looks back on: an `hour` in minutes, a `day` in half hours, or a `month`, which is 30 UTC days.',
          ),
      }),
      data: deploymentOverview,
    },
  ),
};
