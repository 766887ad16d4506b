import { z } from 'zod';
import { address } from '../ids/address.js';
import { walletAddress } from '../ids/wallet-address.js';
import { pageQuery } from '../paging/pagination.js';
import { idempotentHeaders } from '../records/idempotency-key.js';
import { deleted, description, NAMED_BYTES, name, sha256, timestamp } from '../records/text.js';
import { listOperation, operation } from '../rpc/operation.js';
import { rpc } from '../rpc/rpc.js';
import { aiModelId } from './ai-models.js';
import { bindingInput, MAX_BINDINGS } from './bindings.js';
import { deploymentPath, worldPath } from './deployment-path.js';

export const deploymentMode = z.enum(['upgradable', 'locked']).meta({ id: 'DeploymentMode' });

/** Where a clone comes from: `seq` is the entry after which its state was taken, `snapshotHash` covers that state. */
export const deploymentSource = z
  .strictObject({ address, seq: z.int(), snapshotHash: sha256 })
  .meta({ id: 'DeploymentSource' });
export type DeploymentSource = z.infer<typeof deploymentSource>;

/** Which networks it can receive on is seen when a payment is requested. */
const payToAddress = walletAddress;
const aiDailyBudgetUsd = z.number().min(0).max(1_000_000);

export const deploymentRecord = z
  .strictObject({
    id: z.int(),
    address,
    worldId: z.int(),
    worldAddress: address,
    name: z.string(),
    description: z.string().nullable(),
    mode: deploymentMode,
    isPublic: z.boolean(),
    isPaused: z.boolean(),
    isLLMPublic: z.boolean(),
    aiModelId: z.string().nullable(),
    aiDailyBudgetUsd: z.number().nullable(),
    payToAddress: z.string().nullable(),
    lockedAt: timestamp.nullable(),
    definitionHash: sha256.nullable(),
    source: deploymentSource.nullable(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Deployment' });
export type DeploymentRecord = z.infer<typeof deploymentRecord>;

export const newDeployment = z
  .strictObject({
    name,
    description: description.nullable().optional(),
    mode: deploymentMode.default('upgradable'),
    aiModelId: aiModelId.nullable().optional(),
    aiDailyBudgetUsd: aiDailyBudgetUsd.nullable().optional(),
    isLLMPublic: z.boolean().default(false),
    payToAddress: payToAddress.nullable().optional(),
    bindings: z.array(bindingInput).max(MAX_BINDINGS),
    sourceDeployment: z.string().min(1).max(64).optional(),
    sourceSeq: z.int().min(1).optional(),
  })
  .meta({ id: 'NewDeployment' });
export type NewDeployment = z.infer<typeof newDeployment>;

/** An absent field stays, null removes. */
export const deploymentSettings = z
  .strictObject({
    name: name.optional(),
    description: description.nullable().optional(),
    aiModelId: aiModelId.nullable().optional(),
    aiDailyBudgetUsd: aiDailyBudgetUsd.nullable().optional(),
    isLLMPublic: z.boolean().optional(),
    payToAddress: payToAddress.nullable().optional(),
  })
  .meta({ id: 'DeploymentSettings' });
export type DeploymentSettings = z.infer<typeof deploymentSettings>;

const all = '/api/worlds/:worldAddress/deployments';
const one = `${all}/:address`;
const tag = 'Deployments';

/** Turns one of a deployment's switches; idempotent. */
const action = (verb: string, summary: string) =>
  operation({
    http: { method: 'POST', path: `${one}/${verb}`, status: 200, tag, summary },
    access: { scope: 'write', relation: 'owner' },
    errors: ['deployment_not_found'],
    params: deploymentPath,
    data: deploymentRecord,
  });

export const deploymentRpcs = {
  'deployments.list': listOperation({
    http: { method: 'GET', path: all, status: 200, tag, summary: 'List the deployments of a world' },
    access: { scope: 'read', relation: 'visible' },
    errors: ['world_not_found', 'page_too_deep'],
    params: worldPath,
    query: pageQuery,
    item: deploymentRecord,
  }),
  'deployments.create': operation({
    http: {
      method: 'POST',
      path: all,
      status: 201,
      tag,
      summary: 'Create a deployment, empty or as a copy of another',
      location: ({ params }, data) =>
        `/api/worlds/${params.worldAddress}/deployments/${String(data.address)}`,
    },
    access: { scope: 'write', relation: 'owner' },
    errors: [
      'world_not_found',
      'duplicate_event',
      'unknown_event',
      'unknown_event_version',
      'unknown_ai_model',
      'ai_model_unpriced',
      'unknown_chain',
      'unknown_deployment',
      'unknown_entity_schema',
      'limit_reached',
      'change_too_large',
      'write_conflict',
      'quota_exceeded',
      'idempotency_key_reused',
    ],
    params: worldPath,
    headers: idempotentHeaders,
    body: newDeployment,
    data: deploymentRecord,
  }),
  'deployments.get': operation({
    http: { method: 'GET', path: one, status: 200, tag, summary: 'Get a deployment' },
    access: { scope: 'read', relation: 'visible' },
    errors: ['deployment_not_found'],
    params: deploymentPath,
    data: deploymentRecord,
  }),
  /**
   * What the caller, on whose behalf a service asks, is to a deployment. For services that store something of a
   * deployment: `deployment_not_found` where the caller may not see it.
   */
  'deployments.relation': rpc({
    access: { scope: 'none', relation: 'internal' },
    errors: ['deployment_not_found'],
    request: z.strictObject({ params: deploymentPath }),
    reply: z.strictObject({ address, relation: z.enum(['owner', 'visible']) }),
  }),
  'deployments.update': operation({
    http: {
      method: 'PUT',
      path: one,
      status: 200,
      tag,
      summary: 'Update the settings of a deployment',
      bodyBytes: NAMED_BYTES,
    },
    access: { scope: 'write', relation: 'owner' },
    errors: ['deployment_not_found', 'unknown_ai_model', 'ai_model_unpriced', 'deployment_locked'],
    params: deploymentPath,
    body: deploymentSettings,
    data: deploymentRecord,
  }),
  'deployments.delete': operation({
    http: { method: 'DELETE', path: one, status: 200, tag, summary: 'Delete a deployment' },
    access: { scope: 'write', relation: 'owner' },
    errors: ['deployment_not_found', 'deployment_locked', 'deployment_busy'],
    params: deploymentPath,
    data: deleted,
  }),
  'deployments.lock': action('lock', 'Lock what a deployment runs permanently'),
  'deployments.publish': action('publish', 'Publish a deployment'),
  'deployments.unpublish': action('unpublish', 'Unpublish a deployment'),
  'deployments.pause': action('pause', 'Pause all executions of a deployment'),
  'deployments.resume': action('resume', 'Resume the executions of a deployment'),
};
