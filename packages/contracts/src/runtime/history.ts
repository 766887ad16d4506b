import { z } from 'zod';
import { keptDefinition } from '../catalog/definitions.js';
import { pushSummary } from '../chain/pushes.js';
import { jsonObject } from '../json/json-schemas.js';
import { DEPLOYMENT_PATH, deploymentPath, historyIdInPath, IN_DEPLOYMENT } from '../names/names.js';
import { count, name, ordinal } from '../records/fields.js';
import { pageQuery, wholeNumberInQuery } from '../records/pagination.js';
import { operationsAt } from '../rpc/operation.js';
import { executionStatus, executionTrigger, failedCode, hashedEntry, readBeside } from './journal.js';
import { entryPayment } from './payments.js';

/** All that `hash` covers is shown to everyone who may read the entry. */
export const historyEntry = z
  .strictObject({
    ...hashedEntry.shape,
    ...readBeside,
    llm: jsonObject
      .nullable()
      .describe(
        'What the model was asked and what it cost (docs/ai.md). Its texts are left out in lists, and for others than the ' +
          'owner unless the deployment is `isLLMPublic` and no paid execution failed. Null: no model was asked.',
      ),
    failedCode: failedCode
      .optional()
      .describe(
        'Where a template failed. Left out in lists, and for others than the owner unless the deployment is `isCodePublic`. ' +
          'Absent: there, and where no template failed.',
      ),
    payment: entryPayment.nullable().describe('The payment as it now stands. Null: nothing was paid.'),
    pushes: z.array(pushSummary).max(16).describe('Its pushes to chains, as they now stand.'),
    durationMs: z
      .number()
      .min(0)
      .nullable()
      .describe('Milliseconds from the start of the execution to its decision. Null: no execution.'),
  })
  .meta({ id: 'HistoryEntry', description: 'An entry of the journal of a deployment.' });
export type HistoryEntry = z.infer<typeof historyEntry>;

/** Entries that one call of verify reads at most. */
export const MAX_VERIFIED = 100_000;

const wholeNumber = (most: number) =>
  wholeNumberInQuery(/^(0|[1-9]\d{0,14})$/, 'A whole number is required, without leading zeros.', most);
const seq = wholeNumber(Number.MAX_SAFE_INTEGER);

/** `schema:instanceId`, split at the first colon. */
const instanceKey = z
  .string()
  .regex(/^[^:]+:./su, 'A schema and an instanceId are required, such as "horse:HORSE_1".');

export const historyQuery = z
  .strictObject({
    page: wholeNumber(1_000_000_000)
      .optional()
      .describe(
        'Which page, from 1 (the default). The product of `page` and `limit` may be at most 100,000.',
      ),
    limit: pageQuery.shape.limit,
    after: seq
      .optional()
      .describe(
        'In place of `page`: what follows the entry of this `seq` in the list, so entries of smaller `seq`.',
      ),
    event: name.optional().describe('Only executions of this event.'),
    status: executionStatus.optional().describe('Only executions that ended like this.'),
    trigger: executionTrigger.optional().describe('Only executions that were started by this.'),
    instance: instanceKey
      .optional()
      .describe('Only entries that changed this instance, as `schema:instanceId`, such as `horse:HORSE_1`.'),
    include: z
      .literal('all')
      .optional()
      .describe('`all` lists the whole journal. Absent: only the executions in it.'),
  })
  .refine(({ page, after }) => page === undefined || after === undefined, {
    path: ['after'],
    message: 'Give either page or after, not both.',
  });
export type HistoryQuery = z.output<typeof historyQuery>;

export const divergence = z
  .strictObject({
    seq: count.describe(
      'The entry concerned; where an instance differs from the whole journal, the last entry.',
    ),
    what: z
      .enum([
        'missing_entry',
        'broken_link',
        'wrong_hash',
        'impossible_change',
        'kept_state_differs',
        'instance_differs',
        'change_index_differs',
        'snapshot_differs',
        'head_differs',
        'decision_differs',
        'draws_differ',
        'definition_differs',
        'exchange_differs',
      ])
      .describe('What contradicts what (docs/history.md).'),
    instance: z.string().optional().describe('The instance concerned, as `schema:instanceId`. Absent: none.'),
  })
  .meta({
    id: 'Divergence',
    description: 'A contradiction between the journal and what is stored beside it.',
  });
export type Divergence = z.infer<typeof divergence>;

/** Why an execution was not decided again. */
export const notRerun = z.enum([
  'version_1',
  'other_evaluator',
  'model',
  'outside',
  'no_definition',
  'unknown_members',
]);
export type NotRerun = z.infer<typeof notRerun>;

/** Why the seed of an execution's random numbers was not held to what it has to be made of. */
export const notCheckedSeed = z.enum(['unrevealed', 'other_beacon', 'replayed']);
export type NotCheckedSeed = z.infer<typeof notCheckedSeed>;

export const verification = z
  .strictObject({
    valid: z.boolean().describe('Whether the range holds together.'),
    entries: z.int().min(0).max(MAX_VERIFIED).describe('Entries that this call has read.'),
    firstDivergence: divergence.nullable().describe('The first contradiction. Null: none.'),
    next: ordinal
      .nullable()
      .describe(
        '`from` of the next call: a `seq`, or from 10^14 on the rest of the comparison of instances. Null: nothing is left, ' +
          'or there is a contradiction.',
      ),
  })
  .extend({
    decisions: z
      .strictObject({
        rerun: count.describe('Executions that were decided again.'),
        notRerun: z
          .partialRecord(notRerun, count)
          .describe('Executions that were not, by the reason (docs/history.md).'),
        seeds: z
          .strictObject({
            checked: count.describe(
              'Seeds of random numbers that are made of what the journal has committed to, or of a round of the beacon.',
            ),
            notChecked: z
              .partialRecord(notCheckedSeed, count)
              .describe('Seeds that were not held to anything, by the reason (docs/history.md).'),
          })
          .optional()
          .describe('What became of the seeds of random numbers. Absent: none were drawn.'),
      })
      .optional()
      .describe('What became of the executions of the range. Absent: they were not asked for.'),
  })
  .meta({ id: 'Verification', description: 'What the check of a range of the journal has found.' });
export type Verification = z.infer<typeof verification>;

const { list, read } = operationsAt(`${DEPLOYMENT_PATH}/history`, 'History', IN_DEPLOYMENT);
const one = operationsAt(`${DEPLOYMENT_PATH}/history/:historyId`, 'History', {
  params: z.strictObject({ ...deploymentPath.shape, historyId: historyIdInPath }),
  errors: [...IN_DEPLOYMENT.errors, 'history_entry_not_found'],
});

export const keptDefinitionRpcs = {
  'definitions.get': operationsAt(`${DEPLOYMENT_PATH}/definitions/:hash`, 'History', {
    params: z.strictObject({
      ...deploymentPath.shape,
      hash: z.string().max(64).describe('The `versionHash` of an execution.'),
    }),
    errors: [...IN_DEPLOYMENT.errors, 'definition_not_found', 'forbidden'],
  }).read('', 'Get the definition that an execution ran, as it was then', { data: keptDefinition }),
};

export const historyRpcs = {
  'history.list': list('', 'List the executions of a deployment, newest first', {
    query: historyQuery,
    item: historyEntry,
  }),
  'history.verify': read(
    '/verify',
    'Verify the hash chain and the replayed state of a range of the journal',
    {
      errors: ['request_in_flight'],
      query: z.strictObject({
        from: seq.default(1).describe('The first entry to check: a `seq`, or `next` of the call before.'),
        limit: wholeNumber(MAX_VERIFIED).default(MAX_VERIFIED).describe('How many entries to read at most.'),
        decisions: z
          .literal('true')
          .optional()
          .describe(
            '`true`: decide the executions of the range again, from their definitions. Absent: do not.',
          ),
      }),
      data: verification,
    },
  ),
  'history.get': one.read('', 'Get a history entry with the prompt and the answer of its model', {
    data: historyEntry,
  }),
};
