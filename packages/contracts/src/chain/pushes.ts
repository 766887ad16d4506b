import { z } from 'zod';
import { DEPLOYMENT_PATH, deploymentPath, historyIdInPath, IN_DEPLOYMENT } from '../names/paths.js';
import { address } from '../records/fields.js';
import { MAX_LIMIT, pageQuery } from '../records/pagination.js';
import { operationsAt } from '../rpc/operation.js';
import { rpc } from '../rpc/rpc.js';
import { pushRecord, pushStatus, pushSummary } from './push-record.js';

const chainName = z.string().min(1).max(64);

const ofPush = operationsAt(`${DEPLOYMENT_PATH}/history/:historyId/pushes/:chain`, 'Chains', {
  params: z.strictObject({
    ...deploymentPath.shape,
    historyId: historyIdInPath,
    chain: chainName.describe('Name of the chain.'),
  }),
  errors: ['deployment_not_found', 'push_not_found', 'push_not_failed'],
});

/** What the owner does about a push that failed. */
const remedy = (verb: string, summary: string) =>
  ofPush.write('POST', `/${verb}`, summary, { data: pushRecord });

export const pushRpcs = {
  'pushes.list': operationsAt(DEPLOYMENT_PATH, 'Chains', IN_DEPLOYMENT).list(
    '/pushes',
    'List the pushes of a deployment, newest first',
    {
      query: z.strictObject({
        ...pageQuery.shape,
        chain: chainName.optional().describe('Only pushes to this chain.'),
        state: pushStatus.exclude(['unknown']).optional().describe('Only pushes that have come this far.'),
      }),
      item: pushRecord,
    },
  ),
  'pushes.retry': remedy('retry', 'Try a failed push again, and the later ones after it'),
  'pushes.skip': remedy('skip', 'Push only the digest of an execution whose push failed'),
  /** The pushes of entries that a reader of the history may see. An entry without rows is not answered. */
  'pushes.ofEntries': rpc({
    request: z.object({ deployment: address, historyIds: z.array(z.string()).max(MAX_LIMIT) }),
    reply: z.object({ pushes: z.array(z.object({ historyId: z.string(), push: pushSummary })) }),
  }),
};
