import { z } from 'zod';
import { idempotentHeaders } from '../records/idempotency-key.js';
import { deleted, name, timestamp } from '../records/text.js';
import { operation } from '../rpc/operation.js';
import { requestPath } from '../rpc/request-path.js';
import { deploymentPath } from './deployment-path.js';

/** A name of a chain or a key that pushes are filtered by. */
const shortName = z.string().min(1).max(255);
/** A set: a chain that is named twice is pushed to once. */
const targetChains = z
  .array(shortName.max(64))
  .max(16)
  .transform((chains) => [...new Set(chains)]);

/** Which keys of an execution go on-chain: absent or null = all, `[]` = none. */
export const onchainFilter = z
  .strictObject({
    stateChanges: z.array(shortName).max(200).nullable().optional(),
    result: z.array(shortName).max(200).nullable().optional(),
  })
  .meta({ id: 'OnchainFilter' });
export type OnchainFilter = z.infer<typeof onchainFilter>;

const eventVersion = z.int().min(1).max(1_000_000_000);

export const bindingInput = z
  .strictObject({
    event: name,
    eventVersion,
    targetChains: targetChains.optional(),
    onchain: onchainFilter.nullable().optional(),
  })
  .meta({ id: 'BindingInput' });
export type BindingInput = z.infer<typeof bindingInput>;

/** Changes only what it names; `targetChains: []` and `onchain: null` clear. */
export const bindingChange = z
  .strictObject({
    event: name,
    eventVersion: eventVersion.optional(),
    targetChains: targetChains.optional(),
    onchain: onchainFilter.nullable().optional(),
  })
  .meta({ id: 'BindingChange' });
export type BindingChange = z.infer<typeof bindingChange>;

export const bindingRecord = z
  .strictObject({
    id: z.int(),
    event: z.string(),
    eventVersion: z.int(),
    targetChains: z.array(z.string()),
    onchain: onchainFilter.nullable(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'EventBinding' });
export type BindingRecord = z.infer<typeof bindingRecord>;

/** Bindings that a deployment may have. */
export const MAX_BINDINGS = 200;

const path = '/api/worlds/:worldAddress/deployments/:address/event-bindings';
const tag = 'Event bindings';

/** Of one binding its own address, of several the list. */
function locationOf(params: Record<string, string>, bindings: readonly BindingRecord[]): string {
  const list = requestPath({ path }, params);
  const [only, ...others] = bindings;
  return only === undefined || others.length > 0 ? list : `${list}?event=${encodeURIComponent(only.event)}`;
}

export const bindingRpcs = {
  /** With `?event=` the one binding of that event, else all of them, unpaged. */
  'bindings.list': operation({
    http: {
      method: 'GET',
      path,
      status: 200,
      tag,
      summary: 'List the event bindings, or get the binding of one event',
    },
    access: { scope: 'read', relation: 'visible' },
    errors: ['deployment_not_found', 'event_binding_not_found'],
    params: deploymentPath,
    query: z.strictObject({ event: z.string().min(1).optional() }),
    data: z.union([z.array(bindingRecord), bindingRecord]),
  }),
  'bindings.add': operation({
    http: {
      method: 'POST',
      path,
      status: 201,
      tag,
      summary: 'Bind events to versions',
      location: ({ params }, data) => locationOf(params, data as unknown as readonly BindingRecord[]),
    },
    access: { scope: 'write', relation: 'owner' },
    errors: [
      'deployment_not_found',
      'body_must_be_array',
      'duplicate_event',
      'unknown_event',
      'unknown_event_version',
      'unknown_chain',
      'event_binding_exists',
      'limit_reached',
      'change_too_large',
      'deployment_locked',
      'idempotency_key_reused',
    ],
    params: deploymentPath,
    headers: idempotentHeaders,
    body: z.array(bindingInput).max(MAX_BINDINGS),
    data: z.array(bindingRecord),
  }),
  'bindings.update': operation({
    http: { method: 'PUT', path, status: 200, tag, summary: 'Update event bindings' },
    access: { scope: 'write', relation: 'owner' },
    errors: [
      'deployment_not_found',
      'body_must_be_array',
      'duplicate_event',
      'unknown_event_version',
      'unknown_chain',
      'event_binding_not_found',
      'change_too_large',
      'deployment_locked',
    ],
    params: deploymentPath,
    body: z.array(bindingChange).max(MAX_BINDINGS),
    data: z.array(bindingRecord),
  }),
  'bindings.remove': operation({
    http: { method: 'DELETE', path, status: 200, tag, summary: 'Unbind an event' },
    access: { scope: 'write', relation: 'owner' },
    errors: ['deployment_not_found', 'event_binding_not_found', 'deployment_locked'],
    params: deploymentPath,
    query: z.strictObject({ event: z.string().min(1) }),
    data: deleted,
  }),
};
