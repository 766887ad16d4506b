import { z } from 'zod';
import { DEPLOYMENT_PATH, deploymentPath, historyIdInPath } from '../names/paths.js';
import { address } from '../records/fields.js';
import { MAX_LIMIT, pageQuery } from '../records/pagination.js';
import { operationsBelow } from '../rpc/operation.js';
import { rpc } from '../rpc/rpc.js';
import { pushRecord, pushStatus, pushSummary } from './push-record.js';

const { list, write } = operationsBelow(DEPLOYMENT_PATH, 'Chains');

const chainName = z.string().min(1).max(64);

/** What the owner does about a push that failed. */
const remedy = (verb: string, summary: string) =>
  write('POST', `/history/:historyId/pushes/:chain/${verb}`, summary, {
    errors: ['deployment_not_found', 'push_not_found', 'push_not_failed'],
    params: z.strictObject({
      ...deploymentPath.shape,
      historyId: historyIdInPath,
      chain: chainName.describe('Name of the chain.'),
    }),
    data: pushRecord,
  });

export const pushRpcs = {
  'pushes.list': list('/pushes', 'List the pushes of a deployment, newest first', {
    errors: ['deployment_not_found', 'page_too_deep'],
    params: deploymentPath,
    query: z.strictObject({
      ...pageQuery.shape,
      chain: chainName.optional().describe('Only pushes to this chain.'),
      state: pushStatus.exclude(['unknown']).optional().describe('Only pushes that have come this far.'),
    }),
    item: pushRecord,
  }),
  'pushes.retry': remedy('retry', 'Try a failed push again, and the later ones after it'),
  'pushes.skip': remedy('skip', 'Push only the digest of an execution whose push failed'),
  /** The pushes of entries that a reader of the history may see. An entry without rows is not answered. */
  'pushes.ofEntries': rpc({
    request: z.object({ deployment: address, historyIds: z.array(z.string()).max(MAX_LIMIT) }),
    reply: z.object({ pushes: z.array(z.object({ historyId: z.string(), push: pushSummary })) }),
  }),
};
