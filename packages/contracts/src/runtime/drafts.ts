import { z } from 'zod';
import { versionErrors } from '../catalog/event-versions.js';
import { versionBody } from '../catalog/version-parts.js';
import { DEPLOYMENT_PATH, IN_DEPLOYMENT } from '../names/names.js';
import { operationsAt } from '../rpc/operation.js';
import { aiModelId } from './ai.js';
import { dryRunAnswer, executedEvent } from './execution.js';

export const draftRpcs = {
  'deployments.try': operationsAt(DEPLOYMENT_PATH, 'Execution', IN_DEPLOYMENT).write(
    'POST',
    '/try',
    'Try a version of an event that is not saved: a dry run of it',
    {
      access: { scope: 'execute', relation: 'owner' },
      errors: [
        ...versionErrors,
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
      ],
      body: z
        .strictObject({
          event: executedEvent.event.describe('Name of the event, which need not exist.'),
          definition: versionBody.describe(
            'The version, as it would be saved: it is checked in the same way, and runs with the schemas of the world as ' +
              'they are.',
          ),
          input: executedEvent.input,
          aiModelId: aiModelId
            .optional()
            .describe('The model that decides. Absent: the model of the deployment.'),
        })
        .meta({ id: 'TryRequest', description: 'A version that is not saved, and an input for it.' }),
      data: dryRunAnswer.describe('What it would do: nothing was committed, and nothing saved.'),
    },
  ),
};
