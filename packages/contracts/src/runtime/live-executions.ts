import { z } from 'zod';
import { sha256 } from '../records/text.js';
import { operation } from '../rpc/operation.js';
import { defineContract } from '../rpc/rpc.js';
import { deploymentPath } from './deployment-path.js';
import { hashedEntry, stateChangesView } from './journal.js';

/** An execution as the live stream tells it, right after its commit. */
export const liveExecution = z
  .strictObject({ ...hashedEntry.shape, hash: sha256, stateChanges: stateChangesView })
  .meta({ id: 'LiveExecution' });
export type LiveExecution = z.infer<typeof liveExecution>;

/** Answered by the gateway itself: a stream is no single reply. */
export const liveContract = defineContract('gateway', {
  'deployments.stream': operation({
    http: {
      method: 'GET',
      path: '/api/worlds/:worldAddress/deployments/:address/stream',
      status: 200,
      tag: 'History',
      summary: 'Stream the executions of a deployment as they commit',
      stream: true,
    },
    access: { scope: 'read', relation: 'visible' },
    errors: ['deployment_not_found'],
    params: deploymentPath,
    headers: z.strictObject({
      'last-event-id': z
        .string()
        .regex(/^\d{1,15}$/, 'The id of the last received event is required.')
        .optional()
        .meta({ description: 'Continue after this seq without a gap' }),
    }),
    data: liveExecution,
  }),
});
