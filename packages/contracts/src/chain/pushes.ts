import { z } from 'zod';
import { DEPLOYMENT_PATH, deploymentPath, historyIdInPath, IN_DEPLOYMENT } from '../names/names.js';
import { address, count, nullableText, ordinal, sha256, timestamp } from '../records/fields.js';
import { MAX_LIMIT, pageQuery } from '../records/pagination.js';
import { operationsAt } from '../rpc/operation.js';
import { defineMessage, rpc } from '../rpc/rpc.js';

/**
 * How far a push has come.
 *
 *   queued ─→ submitted ─→ confirmed ─→ finalized
 *     ↑           │ (a reorganization, or a transaction that can no longer be included)
 *     ├───────────┘
 *     └─ retry, skip ─ failed (stops the deployment's later pushes to this chain)
 *   queued ─→ cancelled (the deployment was deleted)
 */
export const pushStatus = z
  .enum(['queued', 'submitted', 'confirmed', 'finalized', 'failed', 'cancelled', 'unknown'])
  .meta({
    id: 'PushStatus',
    description:
      'How far a push has come: `queued`, `submitted`, `confirmed` in a block, `finalized` for ever. `failed` stops the later ' +
      'pushes of the deployment to the chain; `cancelled`: the deployment was deleted; `unknown`: the chain-pusher did not ' +
      'answer when the history was read.',
  });
export type PushStatus = z.infer<typeof pushStatus>;

const pushProblem = z
  .strictObject({
    code: z.string().describe('The reason, for programs.'),
    detail: z.string().describe('The reason, for people.'),
  })
  .meta({ id: 'PushProblem', description: 'Why a push failed, or what a queued one waits for.' });
export type PushProblem = z.infer<typeof pushProblem>;

const shape = {
  chain: z.string().describe('Name of the chain.'),
  number: ordinal
    .nullable()
    .describe('1, 2, 3 … per deployment and chain. Null: the chain-pusher has not read the execution yet.'),
  status: pushStatus.describe('How far it has come.'),
  transaction: nullableText.describe('Hash (EVM) or signature (Solana) of the transaction. Null: none yet.'),
  block: count
    .nullable()
    .describe('Number of the block (EVM) or the slot (Solana) that holds it. Null: none yet.'),
  explorerUrl: nullableText.describe(
    'The transaction in a block explorer. Null: none is configured, or none yet.',
  ),
  error: pushProblem.nullable().describe('Why it failed, or what it waits for. Null: neither.'),
};

export const pushSummary = z
  .strictObject(shape)
  .meta({ id: 'PushSummary', description: 'How one push of an execution stands.' });
export type PushSummary = z.infer<typeof pushSummary>;

const head = z
  .strictObject({
    before: timestamp.describe('It covers the entries that were committed before this time.'),
    generation: ordinal.nullable().describe('Generation of the journal. Null: it is not read yet.'),
    size: ordinal
      .nullable()
      .describe('Entries that it covers: those with `seq` 1 to this. Null: it is not read yet.'),
    rootHash: sha256
      .nullable()
      .describe('Root of the RFC 6962 tree over the hashes of these entries. Null: it is not read yet.'),
  })
  .meta({ id: 'PushedHead', description: 'The head of a journal that is pushed in place of executions.' });

export const pushRecord = z
  .strictObject({
    historyId: z
      .string()
      .describe('Id of the history entry of the execution. A head has an id of its own, in the same place.'),
    seq: ordinal.describe(
      'Position of that entry in the journal. Of a head the last entry that it covers, once it is read.',
    ),
    ...shape,
    truncated: z.boolean().describe('Whether only the digest goes on-chain.'),
    digest: z
      .string()
      .describe(
        'SHA-256 of the content as canonical JSON: 64 lowercase hex digits. Empty: a head that is not read yet.',
      ),
    head: head.optional().describe('The head that is pushed. Absent: an execution is.'),
  })
  .meta({ id: 'Push', description: 'A push of an execution, or of a head, to a chain.' });
export type PushRecord = z.infer<typeof pushRecord>;

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
  'pushes.skip': remedy('skip', 'Push only the digest of what failed to be pushed'),
  /** The pushes of entries that a reader of the history may see. An entry without rows is not answered. */
  'pushes.ofEntries': rpc({
    request: z.object({ deployment: address, historyIds: z.array(z.string()).max(MAX_LIMIT) }),
    reply: z.object({ pushes: z.array(z.object({ historyId: z.string(), push: pushSummary })) }),
  }),
};

/** How pushes of one deployment stand after a change; the newest message of a push is not always the last to arrive. */
export const pushesChanged = z
  .strictObject({ deployment: address, pushes: z.array(pushRecord) })
  .meta({ id: 'PushesChanged' });
export type PushesChanged = z.infer<typeof pushesChanged>;

/** Published after the commit that changed them. */
export const pushResult = defineMessage('chain-pusher', 'push-result', pushesChanged);
