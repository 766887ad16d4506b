import { z } from 'zod';
import { referenceRpcs } from '../catalog/definitions.js';
import { jsonValue } from '../json/json-schemas.js';
import { address } from '../records/fields.js';
import { MAX_DEPTH, MAX_LIMIT } from '../records/pagination.js';
import { rpc } from '../rpc/rpc.js';
import { bindingRpcs } from './bindings.js';
import { pastHeadRpcs } from './checkpoints.js';
import { deploymentRecord, deploymentRpcs } from './deployments.js';
import { draftRpcs } from './drafts.js';
import { executionRpcs } from './execution.js';
import { mappingRpcs } from './instance-mapping.js';
import { instanceRpcs } from './instances.js';
import { publicExecutionRpcs } from './public-execution.js';
import { serviceExecutionRpcs } from './service-executions.js';
import { timerRpcs } from './timers.js';
import { whatIfRpcs } from './what-if.js';

const pauseRequest = z.object({ address, paused: z.boolean() });

/** RPCs that only the runtime process that owns the deployment answers. Any other process forwards them to it. */
export const ownedRpcs = {
  /** For the account that owns the deployment, which the path of the request names. */
  account: {
    'deployments.update': deploymentRpcs['deployments.update'],
    'deployments.delete': deploymentRpcs['deployments.delete'],
    'deployments.revealRandomness': deploymentRpcs['deployments.revealRandomness'],
    'deployments.lock': deploymentRpcs['deployments.lock'],
    'deployments.publish': deploymentRpcs['deployments.publish'],
    'deployments.unpublish': deploymentRpcs['deployments.unpublish'],
    'deployments.pause': deploymentRpcs['deployments.pause'],
    'deployments.resume': deploymentRpcs['deployments.resume'],
    'deployments.execute': executionRpcs['deployments.execute'],
    'deployments.try': draftRpcs['deployments.try'],
    'executions.ofCall': executionRpcs['executions.ofCall'],
    'timers.cancel': timerRpcs['timers.cancel'],
    'deployments.replay': whatIfRpcs['deployments.replay'],
    'bindings.add': bindingRpcs['bindings.add'],
    'bindings.update': bindingRpcs['bindings.update'],
    'bindings.remove': bindingRpcs['bindings.remove'],
    'instances.create': instanceRpcs['instances.create'],
    'instances.update': instanceRpcs['instances.update'],
    'instances.delete': instanceRpcs['instances.delete'],
    ...mappingRpcs,
  },
  /** For services alone, on behalf of no account. */
  service: {
    ...referenceRpcs,
    ...serviceExecutionRpcs,
    ...publicExecutionRpcs,
    ...pastHeadRpcs,
    /** Pauses or resumes a deployment whose account was disabled or enabled. Runtime processes call it themselves. */
    'accounts.pause': rpc({
      request: pauseRequest,
      reply: z.null(),
    }),
    /** Pauses or resumes a deployment for the operator. Runtime processes call it themselves. */
    'operator.pause': rpc({ request: pauseRequest, reply: z.null() }),
    /** Deletes a what-if fork that nobody uses any more. Runtime processes call it themselves. */
    'whatIf.sweep': rpc({ request: z.object({ address }), reply: z.null() }),
  },
};
export type OwnedRpcs = typeof ownedRpcs;
export type OwnedRpcName = keyof OwnedRpcs['account'] | keyof OwnedRpcs['service'];

/**
 * Forwards a call, with its request unchanged, to the runtime process that owns the deployment; the reply is that of the
 * RPC named. `not_owner`: another process owns it by now, and the caller looks the owner up again.
 */
export const ownershipRpcs = {
  'owner.forward': rpc({
    request: z.object({ name: z.string(), request: jsonValue }),
    reply: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('answered'), reply: jsonValue }),
      z.object({ kind: z.literal('not_owner') }),
    ]),
  }),
};

/** What runtime processes ask those of another database, where deployments live in several. */
export const homeRpcs = {
  /**
   * Deployments of a world that an account can see, of this database and of some partitions alone: how many there are, counted
   * to one beyond 10,000 or `most`, and the ids of the first `most`; or, with `ids`, the records of those alone, and nothing is
   * counted. `away`: partitions of these that are not in it.
   */
  'homes.deployments': rpc({
    request: z.object({
      worldId: z.int(),
      accountId: z.int().nullable(),
      most: z.int().min(0).max(MAX_DEPTH),
      ids: z.array(z.int()).max(MAX_LIMIT).nullable(),
      // A process of the release before asks for all that live there.
      partitions: z.array(z.int()).default(Array.from({ length: 64 }, (_, partition) => partition)),
    }),
    reply: z.object({
      total: z.int(),
      ids: z.array(z.int()),
      records: z.array(deploymentRecord),
      away: z.array(z.int()).default([]),
    }),
  }),
  /** The id of the deployment with an address, if it is in this database: asked while its places are not all in the directory. */
  'homes.find': rpc({ request: z.object({ address }), reply: z.object({ id: z.int().nullable() }) }),
};
