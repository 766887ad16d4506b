import { z } from 'zod';
import { instanceId } from '../catalog/names.js';
import { jsonObject } from '../json/json-schemas.js';
import type { JsonObject } from '../json/json-value.js';
import { pageQuery } from '../paging/pagination.js';
import { idempotentHeaders } from '../records/idempotency-key.js';
import { deleted, NAMED_BYTES, name, timestamp, withNfcKeys } from '../records/text.js';
import { listOperation, operation } from '../rpc/operation.js';
import { deploymentPath } from './deployment-path.js';

export const instanceRecord = z
  .strictObject({
    id: z.int(),
    entitySchema: z.string(),
    instanceId: z.string(),
    state: jsonObject,
    revision: z.int(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'EntityInstance' });
export type InstanceRecord = z.infer<typeof instanceRecord>;

/** A state as sent: the names of its attributes are in NFC from here on. */
function inNfc(sent: JsonObject, context: z.RefinementCtx): JsonObject {
  const named = withNfcKeys(sent);
  if (named !== undefined) return named;
  context.addIssue({
    code: 'custom',
    message: 'Two attributes have the same name in Unicode normal form NFC.',
  });
  return z.NEVER;
}

/** Bytes of an instance's state as JSON. */
export const MAX_STATE_BYTES = 64 * 1024;

export const newInstance = z
  .strictObject({ entitySchema: name, instanceId, state: jsonObject.default({}).transform(inNfc) })
  .meta({ id: 'NewEntityInstance' });

const all = '/api/worlds/:worldAddress/deployments/:address/entity-instances';
const one = `${all}/:instanceId`;
const tag = 'Entity instances';
const instancePath = z.strictObject({ ...deploymentPath.shape, instanceId: z.string() });
/** Picks the schema where several have an instance of this key. */
const whichSchema = z.strictObject({ entitySchema: z.string().min(1).optional() });
/** Only where the instance has this revision. */
const ifMatch = z.strictObject({ 'if-match': z.string().min(1).max(255).optional() });
const wholeNumber = z
  .union([z.int().min(1), z.string().regex(/^[1-9]\d{0,14}$/, 'A whole number of at least 1 is required.')])
  .transform(Number);

export const instanceRpcs = {
  'instances.list': listOperation({
    http: { method: 'GET', path: all, status: 200, tag, summary: 'List entity instances' },
    access: { scope: 'read', relation: 'visible' },
    errors: ['deployment_not_found', 'page_too_deep'],
    params: deploymentPath,
    query: z.strictObject({ ...whichSchema.shape, ...pageQuery.shape }),
    item: instanceRecord,
  }),
  'instances.create': operation({
    http: {
      method: 'POST',
      path: all,
      status: 201,
      tag,
      summary: 'Create an entity instance',
      bodyBytes: MAX_STATE_BYTES + NAMED_BYTES,
      location: ({ params }, data) =>
        `/api/worlds/${params.worldAddress}/deployments/${params.address}/entity-instances/${encodeURIComponent(String(data.instanceId))}?entitySchema=${encodeURIComponent(String(data.entitySchema))}`,
    },
    access: { scope: 'write', relation: 'owner' },
    errors: [
      'deployment_not_found',
      'unknown_entity_schema',
      'invalid_state',
      'entity_instance_exists',
      'limit_reached',
      'write_conflict',
      'deployment_locked',
      'idempotency_key_reused',
    ],
    params: deploymentPath,
    headers: idempotentHeaders,
    body: newInstance,
    data: instanceRecord,
  }),
  'instances.get': operation({
    http: {
      method: 'GET',
      path: one,
      status: 200,
      tag,
      summary: 'Get an entity instance, current or at an earlier position of the history',
    },
    access: { scope: 'read', relation: 'visible' },
    errors: ['deployment_not_found', 'entity_instance_not_found', 'ambiguous_instance'],
    params: instancePath,
    query: z.strictObject({ ...whichSchema.shape, atSeq: wholeNumber.optional() }),
    data: instanceRecord,
  }),
  'instances.update': operation({
    http: {
      method: 'PUT',
      path: one,
      status: 200,
      tag,
      summary: 'Replace the state of an entity instance',
      bodyBytes: MAX_STATE_BYTES + 1024,
    },
    access: { scope: 'write', relation: 'owner' },
    errors: [
      'deployment_not_found',
      'entity_instance_not_found',
      'ambiguous_instance',
      'invalid_state',
      'revision_mismatch',
      'write_conflict',
      'deployment_locked',
    ],
    params: instancePath,
    query: whichSchema,
    headers: ifMatch,
    body: z.strictObject({ state: jsonObject.transform(inNfc) }),
    data: instanceRecord,
  }),
  'instances.delete': operation({
    http: { method: 'DELETE', path: one, status: 200, tag, summary: 'Delete an entity instance' },
    access: { scope: 'write', relation: 'owner' },
    errors: [
      'deployment_not_found',
      'entity_instance_not_found',
      'ambiguous_instance',
      'revision_mismatch',
      'write_conflict',
      'deployment_locked',
    ],
    params: instancePath,
    query: whichSchema,
    headers: ifMatch,
    data: deleted,
  }),
};
