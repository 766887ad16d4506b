import { z } from 'zod';
import { jsonObject } from '../json/json-schemas.js';
import { DEPLOYMENT_PATH, IN_DEPLOYMENT } from '../names/names.js';
import { namedBytes } from '../records/content-limits.js';
import { ordinal } from '../records/fields.js';
import { idempotentHeaders, operationsAt } from '../rpc/operation.js';
import { aiModelId } from './ai.js';
import { historyEntry } from './history.js';
import { executionError } from './journal.js';

const replayedEntry = z
  .strictObject({
    seq: ordinal.describe('The entry of the source, by its position in the journal of the source.'),
    eventVersion: z
      .int()
      .min(1)
      .max(2_147_483_647)
      .optional()
      .describe(
        'Execute this version of the event as it is now. Absent: by the definition by which the entry was decided.',
      ),
    aiModelId: aiModelId
      .optional()
      .describe('Ask this model. Absent: the model that the entry names, or the one of the deployment.'),
    input: jsonObject.optional().describe('Execute with this input. Absent: the input of the entry.'),
  })
  .meta({ id: 'ReplayRequest', description: 'An entry to replay, and what is to be different.' });

export const replayAnswer = z
  .strictObject({
    seq: ordinal.describe('The entry of the source.'),
    outcome: z
      .enum(['executed', 'written', 'refused', 'skipped'])
      .describe(
        '`executed`: the execution has succeeded or failed, as `entry` says; `written`: an instance was written; `refused`: ' +
          'the fork does not take it, and `error` says why; `skipped`: there is nothing to replay, as with settings.',
      ),
    entry: historyEntry
      .nullable()
      .describe('What it has become in the journal of the fork. Null: refused or skipped.'),
    error: executionError.nullable().describe('Why it was refused. Null: it was not.'),
  })
  .meta({ id: 'ReplayAnswer', description: 'What an entry of the source has become in a what-if fork.' });
export type ReplayAnswer = z.infer<typeof replayAnswer>;

export const whatIfRpcs = {
  'deployments.replay': operationsAt(DEPLOYMENT_PATH, 'What if', IN_DEPLOYMENT).write(
    'POST',
    '/replay',
    'Replay an entry of the source in a what-if fork',
    {
      http: { bodyBytes: (limits) => limits.inputBytes + namedBytes(limits) },
      access: { scope: 'execute', relation: 'owner' },
      errors: [
        'what_if_only',
        'unknown_deployment',
        'history_entry_not_found',
        'deployment_paused',
        'request_in_flight',
        'idempotency_key_reused',
        'write_conflict',
        'budget_exhausted',
        'unknown_ai_model',
        'ai_model_unavailable',
        'randomness_unavailable',
        'too_many_waiting',
      ],
      headers: idempotentHeaders,
      body: replayedEntry,
      data: replayAnswer,
    },
  ),
};
