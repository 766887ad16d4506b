import { type executionRpcs, ServiceError } from '@orrery/contracts';
import type { RuntimeContext } from '../context.js';
import { answerOnce } from '../idempotency/answer-once.js';
import { keyedRequest } from '../idempotency/keyed-request.js';
import type { OwnedHandlers } from '../ownership/owned-handlers.js';
import { executeItem } from './execute-item.js';

export function executionHandlers(context: RuntimeContext): OwnedHandlers<typeof executionRpcs> {
  return {
    'deployments.execute': async (deployment, { query, headers, body }, call) => {
      const { event, input } = body;
      const dryRun = query.dryRun ?? false;
      const request = {
        deploymentId: deployment.id,
        event,
        input,
        dryRun,
        trigger: 'admin',
        walletAddress: null,
      } as const;
      const item = executeItem(context, request, call);
      const keyed = dryRun
        ? undefined
        : keyedRequest(`execute ${deployment.id}`, headers['idempotency-key'], body, call.caller);
      return { data: await context.lanes.submit(answerOnce(context, item, keyed)) };
    },
    'executions.get': async () => {
      throw new ServiceError('execution_not_found');
    },
  };
}
