import { type executionRpcs, type Handlers, ServiceError } from '@orrery/contracts';
import type { RuntimeContext } from '../context.js';
import type { OwnedHandlers } from '../deployments/owned-handlers.js';
import { answerOnce } from '../idempotency/answer-once.js';
import { keyedRequest } from '../idempotency/keyed-request.js';
import { executeAsRun } from '../runs/execute-as-run.js';
import { prefersAsync } from '../runs/prefers-async.js';
import { recordOfRun } from '../runs/run-answer.js';
import { readRun } from '../runs/run-row.js';
import { ASKS_OUTSIDE, type ExecutionRequest, executeItem } from './execute-item.js';

type Reads = Pick<typeof executionRpcs, 'executions.get'>;
type Writes = Pick<typeof executionRpcs, 'deployments.execute'>;

export function executionWrites(context: RuntimeContext): OwnedHandlers<Writes> {
  return {
    'deployments.execute': async (deployment, { query, headers, body }, call) => {
      const dryRun = query.dryRun ?? false;
      const request: ExecutionRequest = {
        deploymentId: deployment.id,
        event: body.event,
        input: body.input,
        trigger: 'admin',
        walletAddress: null,
        dryRun,
      };
      const keyed = dryRun
        ? undefined
        : keyedRequest(`execute ${deployment.id}`, headers['idempotency-key'], body, call.caller);
      if (!dryRun && prefersAsync(headers.prefer)) {
        return { data: await executeAsRun(context, request, keyed, call, true) };
      }
      const item = answerOnce(context, executeItem(context, request, call), keyed);
      const data = await context.lanes.submit(item);
      if (data !== ASKS_OUTSIDE) return { data };
      return { data: await executeAsRun(context, request, keyed, call, false) };
    },
  };
}

const IS_UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const executionReads = ({ db, access }: RuntimeContext): Handlers<Reads> => ({
  'executions.get': async ({ params }, { caller }) => {
    const deployment = await access.owned(params, caller);
    const row = IS_UUID.test(params.executionId) ? await readRun(db, params.executionId) : undefined;
    if (row?.deployment_id !== deployment.id) throw new ServiceError('execution_not_found');
    return { data: recordOfRun(row) };
  },
});
