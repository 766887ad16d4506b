import { z } from 'zod';
import { jsonObject, jsonValue } from '../json/json-schemas.js';
import { DEPLOYMENT_PATH, deploymentPath, IN_DEPLOYMENT } from '../names/names.js';
import { namedBytes } from '../records/content-limits.js';
import { name, ordinal, storedName } from '../records/fields.js';
import { wholeNumberInQuery } from '../records/pagination.js';
import { idempotentHeaders, operationsAt } from '../rpc/operation.js';
import { rpc } from '../rpc/rpc.js';
import { aiModelId } from './ai.js';
import { executionError, stateChangesView } from './journal.js';
import { timerAnswer, timerFields } from './timers.js';

/** What a decided execution answers, committed or not. */
const decided = {
  event: storedName.describe('Name of the event.'),
  eventVersion: ordinal.describe('Version that was executed.'),
  stateChanges: stateChangesView.describe('What changed: values as they now stand, not operators.'),
  result: jsonValue.nullable().describe('The public result. Null: none.'),
  attestation: jsonObject
    .nullable()
    .describe("The attestation of the model's server, as it gave it. Null: none."),
};

/**
 * Which of the answers it is. The default fills it in where an answer is sent. Nothing that is stored has it: the release
 * before this member, which may run beside this one, refuses an answer with it.
 */
const kind = <K extends string>(value: K) =>
  z.literal(value).default(value).describe(`Always \`${value}\`: which answer it is.`);

export const executionAnswer = z
  .strictObject({
    kind: kind('committed'),
    historyId: z.string().describe('Id of the history entry, a UUID.'),
    seq: ordinal.describe('Position of the entry in the journal of the deployment.'),
    ...decided,
    pushes: z
      .array(
        z.strictObject({
          chain: z.string().describe('Name of the chain.'),
          status: z.literal('queued').describe('Always `queued`: the push follows the answer.'),
        }),
      )
      .max(16)
      .describe('The chains that it is pushed to. The history entry shows what becomes of each push.'),
  })
  .meta({ id: 'ExecutionAnswer', description: 'A committed execution.' });
export type ExecutionAnswer = Omit<z.infer<typeof executionAnswer>, 'kind'>;

export const dryRunAnswer = z
  .strictObject({
    kind: kind('dry_run'),
    dryRun: z.literal(true).describe('Always true.'),
    ...decided,
    prompt: jsonObject.nullable().describe('The request that the model saw. Null: a template decided.'),
    llm: jsonObject
      .nullable()
      .describe('What an execution would record of the model. Null: a template decided.'),
  })
  .meta({ id: 'DryRunAnswer', description: 'What an execution would do: nothing was committed.' });
export type DryRunAnswer = Omit<z.infer<typeof dryRunAnswer>, 'kind'>;

const executionState = z
  .enum(['running', 'awaiting_payment', 'succeeded', 'failed'])
  .describe(
    '`running` until it has ended; then `succeeded` or `failed`. `awaiting_payment`: it is not known yet whether its ' +
      'payment was charged (docs/payments.md).',
  );
export const executionId = z.string().meta({ maxLength: 36, description: 'Id of the execution, a UUID.' });

export const acceptedExecution = z
  .strictObject({ kind: kind('accepted'), executionId, state: executionState })
  .meta({ id: 'AcceptedExecution', description: 'An execution that goes on without its caller (202).' });
export type AcceptedExecution = Omit<z.infer<typeof acceptedExecution>, 'kind'>;

export const executionRecord = z
  .strictObject({
    executionId,
    state: executionState,
    answer: executionAnswer.optional().describe('Its answer, once it has succeeded.'),
    error: executionError.optional().describe('Why it failed, once it has.'),
  })
  .meta({ id: 'Execution', description: 'How an execution stands.' });
export type ExecutionRecord = z.input<typeof executionRecord>;

/** What to execute, in every request that executes. */
export const executedEvent = {
  event: name.describe('Name of a bound event.'),
  input: jsonObject
    .default({})
    .describe('Its input, as the `inputSchema` of the version says: 64 KiB as JSON at most by default.'),
};

const flag = z
  .union([z.boolean(), z.enum(['true', 'false'])], 'The flag must be "true" or "false".')
  .transform((value) => value === true || value === 'true');

/** A version's number in a query; the column is a 32-bit integer. */
const eventVersion = wholeNumberInQuery(
  /^[1-9]\d{0,9}$/,
  'A version number is required, such as 2.',
  2_147_483_647,
);

const executeQuery = z.strictObject({
  dryRun: flag.optional().meta({
    default: false,
    description: '`true` decides and checks the execution, and commits nothing.',
  }),
  eventVersion: eventVersion
    .optional()
    .describe('For a dry run alone: this version of the event, bound or not. Absent: the bound one.'),
  aiModelId: aiModelId
    .optional()
    .describe('For a dry run alone: this model. Absent: the model of the deployment.'),
});

/** Why an event cannot be decided, whether it would be committed or not. */
export const decidingErrors = [
  'mutation_missing',
  'invalid_input',
  'template_failed',
  'operator_type_mismatch',
  'change_not_allowed',
  'invalid_change_key',
  'change_too_large',
  'invalid_state',
  'invalid_result',
  'unknown_ai_model',
  'ai_model_unpriced',
  'read_set_too_large',
  'limit_reached',
  'deployment_paused',
  'budget_exhausted',
  'prompt_too_large',
  'ai_model_unavailable',
  'randomness_unavailable',
  'too_many_waiting',
  'ai_output_invalid',
  'invalid_follow_up',
] as const;

export const executionRpcs = {
  'deployments.execute': operationsAt(DEPLOYMENT_PATH, 'Execution', IN_DEPLOYMENT).write(
    'POST',
    '/execute',
    'Execute an event',
    {
      http: {
        bodyBytes: (limits) => limits.inputBytes + namedBytes(limits),
        accepted: {
          data: [acceptedExecution, timerAnswer],
          is: (data) => 'executionId' in data || 'timerId' in data,
        },
        location: ({ params }, { executionId, timerId }) => {
          const deployment = `/api/worlds/${params.worldAddress}/deployments/${params.address}`;
          if (timerId !== undefined) return `${deployment}/timers/${String(timerId)}`;
          return executionId === undefined ? undefined : `${deployment}/executions/${String(executionId)}`;
        },
      },
      access: { scope: 'execute', relation: 'owner' },
      errors: [
        ...decidingErrors,
        'event_not_bound',
        'unknown_event_version',
        'unknown_entity_schema',
        'evaluator_unavailable',
        'write_conflict',
        'request_in_flight',
        'idempotency_key_reused',
        'conflicting_fields',
        'too_many_timers',
        'follow_up_too_deep',
      ],
      query: executeQuery,
      headers: z.strictObject({
        ...idempotentHeaders.shape,
        prefer: z
          .string()
          .max(255)
          .optional()
          .describe(
            '`respond-async` answers 202 at once (RFC 7240), with the path of the status in `Location`. Not with `dryRun`.',
          ),
      }),
      body: z
        .strictObject({ ...executedEvent, ...timerFields })
        .meta({ id: 'ExecuteRequest', description: 'The event to execute, its input, and when, if later.' }),
      data: z.union([executionAnswer, dryRunAnswer, acceptedExecution, timerAnswer]).meta({
        description: 'What was committed, or what a dry run found. `kind` tells which.',
        discriminator: {
          propertyName: 'kind',
          mapping: {
            committed: '#/components/schemas/ExecutionAnswer',
            dry_run: '#/components/schemas/DryRunAnswer',
            accepted: '#/components/schemas/AcceptedExecution',
            timer: '#/components/schemas/TimerAnswer',
          },
        },
      }),
    },
  ),
  /**
   * The answer of the run that a call of `deployments.execute` became, once it has ended; null when it became none. For a
   * gateway whose call was lost with its process. The owner answers, so a run that is not there will not appear.
   */
  'executions.ofCall': rpc({
    request: z.strictObject({ params: deploymentPath, callId: z.uuid() }),
    reply: z.strictObject({ data: z.union([executionAnswer, acceptedExecution]).nullable() }),
  }),
  'executions.get': operationsAt(`${DEPLOYMENT_PATH}/executions/:executionId`, 'Execution', {
    params: z.strictObject({ ...deploymentPath.shape, executionId }),
    errors: [...IN_DEPLOYMENT.errors, 'execution_not_found'],
  }).read('', 'Get the status of an asynchronous execution', {
    access: { scope: 'read', relation: 'owner' },
    data: executionRecord,
  }),
};
