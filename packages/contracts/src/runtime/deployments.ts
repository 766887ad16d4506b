import { z } from 'zod';
import { DEPLOYMENT_PATH, deploymentPath, IN_DEPLOYMENT, worldPath } from '../names/names.js';
import { MOST_CONTENT, namedBytes } from '../records/content-limits.js';
import {
  address,
  name,
  nullableText,
  ordinal,
  recordId,
  recordTimes,
  sentDescription,
  sha256,
  storedName,
  timestamp,
} from '../records/fields.js';
import { walletAddress } from '../records/wallet-address.js';
import { operationsAt, withETag } from '../rpc/operation.js';
import { type Rpc, rpc } from '../rpc/rpc.js';
import { aiModelId } from './ai.js';
import { bindingInput } from './bindings.js';

export const deploymentMode = z.enum(['upgradable', 'locked']).meta({
  id: 'DeploymentMode',
  description:
    '`upgradable`: bindings, model and instances may change. `locked`: what it runs is fixed for ever.',
});

export const deploymentSource = z
  .strictObject({
    address: address.describe('Address of the deployment that was cloned.'),
    seq: ordinal.describe('The entry of its journal after which the state was taken.'),
    snapshotHash: sha256.describe('Hash of the copied instances (docs/history.md).'),
  })
  .meta({ id: 'DeploymentSource', description: 'Where a clone comes from.' });
export type DeploymentSource = z.infer<typeof deploymentSource>;

export const deploymentPurpose = z.literal('what_if').meta({
  id: 'DeploymentPurpose',
  description:
    '`what_if`: a fork in which the history of its source is replayed with changes (docs/what-if.md).',
});

const PURPOSE = 'What the deployment is for. A fork for `what_if` binds nothing and is quiet.';
const KEPT =
  'Whether a what-if fork stays until its owner deletes it. One that does not is deleted an hour after its last use.';
const NAME = 'What the deployment is called; several may have one name.';
const DESCRIPTION = 'What the deployment is, for people. Null: no description.';
const MODEL = 'Id of the model of its AI events. Null: the default of the server.';
const BUDGET =
  'US dollars that models may cost it in a UTC day; beyond that AI executions are 403 `budget_exhausted`. Null: no limit.';
const LLM_PUBLIC = 'Whether others than the owner see the prompts and answers of its models.';
const CODE_PUBLIC =
  'Whether others than the owner may read the definitions that it has executed, whole: templates and prompts too.';
const PAY_TO =
  'The address that payments for public executions go to. Null: events with a price cannot be executed by wallets.';

export const deploymentRecord = z
  .strictObject({
    id: recordId.describe('Numeric id. Paths take it in place of the address.'),
    address: address.describe('Address of the deployment. Paths take it in place of the id.'),
    worldId: recordId.describe('Numeric id of its world.'),
    worldAddress: address.describe('Address of its world.'),
    name: storedName.describe(NAME),
    description: nullableText.describe(DESCRIPTION),
    mode: deploymentMode.describe('Whether what it runs may still change.'),
    isPublic: z
      .boolean()
      .describe('Whether it is published: others read it, and wallets execute its public events.'),
    isPaused: z
      .boolean()
      .describe('Whether executions are refused: by its owner, the operator or the state of the account.'),
    isLLMPublic: z.boolean().describe(LLM_PUBLIC),
    // A runtime of the previous release leaves it out.
    isCodePublic: z.boolean().default(false).describe(CODE_PUBLIC),
    aiModelId: nullableText.describe(MODEL),
    aiDailyBudgetUsd: z.number().min(0).nullable().describe(BUDGET),
    payToAddress: nullableText.describe(PAY_TO),
    lockedAt: timestamp.nullable().describe('When it was locked. Null: it is not locked.'),
    definitionHash: sha256
      .nullable()
      .describe('Hash of all that a locked deployment runs. Null: it is not locked.'),
    source: deploymentSource.nullable().describe('What it was cloned from. Null: it is no clone.'),
    purpose: deploymentPurpose.optional().describe(`${PURPOSE} Absent: none.`),
    isKept: z.boolean().optional().describe(`${KEPT} Absent: it is no what-if fork.`),
    ...recordTimes,
  })
  .meta({ id: 'Deployment', description: 'A runtime instance of a world.' });
export type DeploymentRecord = z.infer<typeof deploymentRecord>;

const optionalSettings = {
  description: sentDescription(DESCRIPTION),
  aiModelId: aiModelId.nullish().describe(MODEL),
  aiDailyBudgetUsd: z.number().min(0).max(1_000_000).nullish().describe(BUDGET),
  /** Which networks it can receive on is seen when a payment is requested. */
  payToAddress: walletAddress.nullish().describe(PAY_TO),
};

export const newDeployment = z
  .strictObject({
    name: name.describe(NAME),
    ...optionalSettings,
    mode: deploymentMode.default('upgradable').describe('`locked` locks it with its creation.'),
    isLLMPublic: z.boolean().default(false).describe(LLM_PUBLIC),
    isCodePublic: z.boolean().default(false).describe(CODE_PUBLIC),
    bindings: z
      .array(bindingInput)
      .max(MOST_CONTENT.bindingsPerDeployment)
      .describe('The events to bind, each to one version. A clone has those of its source beside them.'),
    sourceDeployment: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe(
        'A deployment of the same world and account, as id or address, whose instances and bindings are copied.',
      ),
    sourceSeq: z
      .int()
      .min(1)
      .optional()
      .describe(
        'Copy the instances as they were after this entry of the journal of the source. Absent: as they are now.',
      ),
    sourceTimers: z
      .boolean()
      .optional()
      .describe(
        'Whether the pending timers of the source are copied too; not with `sourceSeq`. Absent: false.',
      ),
    purpose: deploymentPurpose
      .optional()
      .describe(`${PURPOSE} It needs \`sourceDeployment\`, \`sourceSeq\`, and no bindings. Absent: none.`),
  })
  .meta({ id: 'NewDeployment', description: 'A new deployment, empty or a clone.' });
export type NewDeployment = z.infer<typeof newDeployment>;

export const deploymentSettings = z
  .strictObject({
    name: name.optional().describe(NAME),
    ...optionalSettings,
    isLLMPublic: z.boolean().optional().describe(LLM_PUBLIC),
    isCodePublic: z.boolean().optional().describe(CODE_PUBLIC),
    isKept: z.boolean().optional().describe(KEPT),
  })
  .meta({
    id: 'DeploymentSettings',
    description: 'Changes of the settings. Absent members stay, null removes.',
  });
export type DeploymentSettings = z.infer<typeof deploymentSettings>;

export const revealedRandomness = z
  .strictObject({
    secrets: z
      .array(
        z.strictObject({
          commitment: sha256.describe('What the journal has committed to: SHA-256 of the secret.'),
          secret: sha256.describe('The secret, in hex.'),
        }),
      )
      .max(100)
      .describe('The secrets that were in use. Empty: nothing was drawn since the last time.'),
    seq: ordinal.nullable().describe('The entry that reveals them. Null: there is nothing to reveal.'),
  })
  .meta({
    id: 'RevealedRandomness',
    description: 'Secrets of which seeds were made, and that make none any more (docs/history.md).',
  });

export type RevealedRandomness = z.infer<typeof revealedRandomness>;

const inWorld = operationsAt('/api/worlds/:worldAddress/deployments', 'Deployments', {
  params: worldPath,
  errors: ['world_not_found'],
});
const { read, remove, update, write } = operationsAt(DEPLOYMENT_PATH, 'Deployments', IN_DEPLOYMENT);

/** Turns one of a deployment's switches; idempotent. */
const action = (verb: string, summary: string, errors: Rpc['errors'] = []) =>
  write('POST', `/${verb}`, summary, { errors, data: deploymentRecord });

export const deploymentRpcs = {
  'deployments.list': inWorld.list('', 'List the deployments of a world', { item: deploymentRecord }),
  'deployments.create': inWorld.create('Create a deployment, empty or as a copy of another', {
    named: 'address',
    errors: [
      'duplicate_event',
      'unknown_event',
      'unknown_event_version',
      'unknown_ai_model',
      'ai_model_unpriced',
      'unknown_chain',
      'unknown_deployment',
      'unknown_entity_schema',
      'history_broken',
      'request_in_flight',
      'limit_reached',
      'change_too_large',
      'write_conflict',
      'quota_exceeded',
    ],
    body: newDeployment,
    data: deploymentRecord,
  }),
  'deployments.get': withETag(read('', 'Get a deployment', { data: deploymentRecord })),
  /**
   * What the caller, on whose behalf a service asks, is to a deployment. For services that store something of a
   * deployment: `deployment_not_found` where the caller may not see it.
   */
  'deployments.relation': rpc({
    errors: ['deployment_not_found'],
    request: z.strictObject({ params: deploymentPath }),
    reply: z.strictObject({ address, relation: z.enum(['owner', 'visible']) }),
  }),
  'deployments.update': update('Update the settings of a deployment', {
    http: { bodyBytes: namedBytes },
    errors: ['unknown_ai_model', 'ai_model_unpriced', 'deployment_locked', 'what_if_only'],
    body: deploymentSettings,
    data: deploymentRecord,
  }),
  'deployments.delete': remove('Delete a deployment', { errors: ['deployment_locked', 'deployment_busy'] }),
  'deployments.revealRandomness': write(
    'POST',
    '/randomness/reveal',
    'Reveal what random numbers are made of',
    {
      errors: ['deployment_busy'],
      data: revealedRandomness,
    },
  ),
  'deployments.lock': action('lock', 'Lock what a deployment runs permanently', [
    'what_if_refused',
    'write_conflict',
  ]),
  'deployments.publish': action('publish', 'Publish a deployment', ['what_if_refused']),
  'deployments.unpublish': action('unpublish', 'Unpublish a deployment'),
  'deployments.pause': action('pause', 'Pause all executions of a deployment', ['write_conflict']),
  'deployments.resume': action('resume', 'Resume the executions of a deployment', ['write_conflict']),
};
