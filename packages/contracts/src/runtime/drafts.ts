import { z } from 'zod';
import { versionErrors } from '../catalog/event-versions.js';
import { versionBody } from '../catalog/version-parts.js';
import { DEPLOYMENT_PATH, IN_DEPLOYMENT } from '../names/names.js';
import { operationsAt } from '../rpc/operation.js';
import { aiModelId } from './ai.js';
import { decidingErrors, dryRunAnswer, executedEvent } from './execution.js';

export const draftRpcs = {
  'deployments.try': operationsAt(DEPLOYMENT_PATH, 'Execution', IN_DEPLOYMENT).write(
    'POST',
    '/try',
    'Try a version of an event that is not saved: a dry run of it',
    {
      access: { scope: 'write', relation: 'owner' },
      errors: [...versionErrors, ...decidingErrors],
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
