import { z } from 'zod';
import { jsonObject, jsonValue } from '../json/json-schemas.js';
import { idempotentHeaders } from '../records/idempotency-key.js';
import { NAMED_BYTES, name } from '../records/text.js';
import { operation } from '../rpc/operation.js';
import { rpc } from '../rpc/rpc.js';
import { aiModelId } from './ai-models.js';
import { deploymentPath } from './deployment-path.js';

/** `"horse:HORSE_1"` → the values as they now stand; null for a deleted instance. */
const stateChanges = z.record(z.string(), jsonObject.nullable());

/** What a committed execution answers. */
export const executionAnswer = z
  .strictObject({
    historyId: z.string(),
    seq: z.int(),
    event: z.string(),
    eventVersion: z.int(),
    stateChanges,
    result: jsonValue.nullable(),
    attestation: jsonObject.nullable(),
    /** What becomes of them is in the history entry. */
    pushes: z.array(z.strictObject({ chain: z.string(), status: z.literal('queued') })),
  })
  .meta({ id: 'ExecutionAnswer' });
export type ExecutionAnswer = z.infer<typeof executionAnswer>;

/**
 * What would happen: nothing was committed. For a version that a model decides, `prompt` is the request that the model
 * saw and `llm` what an execution would record of it; a template has neither.
 */
export const dryRunAnswer = z
  .strictObject({
    dryRun: z.literal(true),
    event: z.string(),
    eventVersion: z.int(),
    stateChanges,
    result: jsonValue.nullable(),
    attestation: jsonObject.nullable(),
    prompt: jsonObject.nullable(),
    llm: jsonObject.nullable(),
  })
  .meta({ id: 'DryRunAnswer' });
export type DryRunAnswer = z.infer<typeof dryRunAnswer>;

const executionState = z.enum(['running', 'succeeded', 'failed']);

/** An execution that goes on without its caller: 202. */
export const acceptedExecution = z
  .strictObject({ executionId: z.string(), state: executionState })
  .meta({ id: 'AcceptedExecution' });
export type AcceptedExecution = z.infer<typeof acceptedExecution>;

export const executionRecord = z
  .strictObject({
    executionId: z.string(),
    state: executionState,
    answer: executionAnswer.optional(),
    error: z.strictObject({ code: z.string(), detail: z.string(), facts: jsonObject.optional() }).optional(),
  })
  .meta({ id: 'Execution' });
export type ExecutionRecord = z.infer<typeof executionRecord>;

/** Bytes of an execution's input as JSON. */
export const MAX_INPUT_BYTES = 64 * 1024;

const one = '/api/worlds/:worldAddress/deployments/:address';
const tag = 'Execution';
const flag = z
  .union([z.boolean(), z.enum(['true', 'false'])])
  .transform((value) => value === true || value === 'true');

/** A version's number in a query; the column is a 32-bit integer. */
const eventVersion = z
  .union([z.int(), z.string().regex(/^[1-9]\d{0,9}$/, 'A version number is required, such as 2.')])
  .transform(Number)
  .pipe(z.int().min(1).max(2_147_483_647));

const executeQuery = z
  .strictObject({
    dryRun: flag.optional(),
    /** For a dry run: this version of the event, bound or not. */
    eventVersion: eventVersion.optional(),
    /** For a dry run: this model in place of the deployment's. */
    aiModelId: aiModelId.optional(),
  })
  .refine(({ dryRun, eventVersion, aiModelId }) => {
    return dryRun === true || (eventVersion === undefined && aiModelId === undefined);
  }, 'Another version or model can be tried in a dry run only: add dryRun=true.');

export const executionRpcs = {
  'deployments.execute': operation({
    http: {
      method: 'POST',
      path: `${one}/execute`,
      status: 200,
      tag,
      summary: 'Execute an event',
      bodyBytes: MAX_INPUT_BYTES + NAMED_BYTES,
      accepted: (data) => 'executionId' in data,
      location: ({ params }, { executionId }) =>
        executionId === undefined
          ? undefined
          : `/api/worlds/${params.worldAddress}/deployments/${params.address}/executions/${String(executionId)}`,
    },
    access: { scope: 'execute', relation: 'owner' },
    errors: [
      'deployment_not_found',
      'event_not_bound',
      'mutation_missing',
      'invalid_input',
      'template_failed',
      'operator_type_mismatch',
      'change_not_allowed',
      'invalid_change_key',
      'change_too_large',
      'invalid_state',
      'invalid_result',
      'unknown_event_version',
      'unknown_ai_model',
      'ai_model_unpriced',
      'unknown_entity_schema',
      'read_set_too_large',
      'limit_reached',
      'deployment_paused',
      'write_conflict',
      'request_in_flight',
      'idempotency_key_reused',
      'budget_exhausted',
      'prompt_too_large',
      'ai_model_unavailable',
      'ai_output_invalid',
    ],
    params: deploymentPath,
    query: executeQuery,
    headers: z.strictObject({ ...idempotentHeaders.shape, prefer: z.string().max(255).optional() }),
    body: z.strictObject({ event: name, input: jsonObject.default({}) }).meta({ id: 'ExecuteRequest' }),
    data: z.union([executionAnswer, dryRunAnswer, acceptedExecution]),
  }),
  /**
   * The answer of the run that a call of `deployments.execute` became, once it has ended; null when it became none. For a
   * gateway whose call was lost with its process. The owner answers, so a run that is not there will not appear.
   */
  'executions.ofCall': rpc({
    access: { scope: 'none', relation: 'internal' },
    errors: [],
    request: z.strictObject({ params: deploymentPath, callId: z.uuid() }),
    reply: z.strictObject({ data: z.union([executionAnswer, acceptedExecution]).nullable() }),
  }),
  'executions.get': operation({
    http: {
      method: 'GET',
      path: `${one}/executions/:executionId`,
      status: 200,
      tag,
      summary: 'Get the status of an asynchronous execution',
    },
    access: { scope: 'read', relation: 'owner' },
    errors: ['deployment_not_found', 'execution_not_found'],
    params: z.strictObject({ ...deploymentPath.shape, executionId: z.string() }),
    data: executionRecord,
  }),
};
