import { z } from 'zod';
import { address } from '../ids/address.js';
import { pageQuery } from '../paging/pagination.js';
import { idempotentHeaders } from '../records/idempotency-key.js';
import { deleted, description, name, prompt, timestamp } from '../records/text.js';
import { listOperation, operation } from '../rpc/operation.js';
import type { HttpBinding } from '../rpc/rpc.js';
import { domainTag, worldInPath } from './names.js';

const domainTags = z.array(domainTag).max(32);

/** A named simulation space. `promptSeed` is shown to its owner alone. */
export const worldRecord = z
  .strictObject({
    id: z.int(),
    address,
    name: z.string(),
    description: z.string().nullable(),
    domainTags: z.array(z.string()),
    promptSeed: z.string().nullable().optional(),
    isPublic: z.boolean(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'World' });
export type WorldRecord = z.infer<typeof worldRecord>;

const optionalFields = {
  description: description.nullable().optional(),
  domainTags: domainTags.optional(),
  promptSeed: prompt.nullable().optional(),
};
export const createWorldBody = z.strictObject({ name, ...optionalFields }).meta({ id: 'CreateWorld' });
export type CreateWorldBody = z.output<typeof createWorldBody>;
export const updateWorldBody = z
  .strictObject({ name: name.optional(), ...optionalFields })
  .meta({ id: 'UpdateWorld' });
export type UpdateWorldBody = z.output<typeof updateWorldBody>;

const params = z.strictObject({ idOrAddress: worldInPath });
const http = (
  method: HttpBinding['method'],
  rest: string,
  summary: string,
  more: Partial<HttpBinding> = {},
): HttpBinding => ({ method, path: `/api/worlds${rest}`, status: 200, tag: 'Worlds', summary, ...more });

/** A prompt of 32 KiB, a description of 4 KiB, 32 tags and a name. */
const WORLD_BYTES = 48 * 1024;

const reading = { scope: 'read', relation: 'visible' } as const;
const writing = { scope: 'write', relation: 'owner' } as const;

export const worldRpcs = {
  'worlds.list': listOperation({
    http: http('GET', '', 'List your own worlds and the published ones'),
    access: { scope: 'read', relation: 'account' },
    errors: ['page_too_deep'],
    query: pageQuery.extend({ owner: z.literal('me').optional() }),
    item: worldRecord,
  }),
  'worlds.create': operation({
    http: http('POST', '', 'Create a world', {
      status: 201,
      bodyBytes: WORLD_BYTES,
      location: (_request, world) => `/api/worlds/${world['address']}`,
    }),
    access: { scope: 'write', relation: 'account' },
    errors: ['quota_exceeded', 'idempotency_key_reused', 'request_in_flight'],
    headers: idempotentHeaders,
    body: createWorldBody,
    data: worldRecord,
  }),
  'worlds.get': operation({
    http: http('GET', '/:idOrAddress', 'Get a world'),
    access: reading,
    errors: ['world_not_found'],
    params,
    data: worldRecord,
  }),
  'worlds.update': operation({
    http: http('PUT', '/:idOrAddress', 'Update a world; absent fields keep their values', {
      bodyBytes: WORLD_BYTES,
    }),
    access: writing,
    errors: ['world_not_found'],
    params,
    body: updateWorldBody,
    data: worldRecord,
  }),
  'worlds.publish': operation({
    http: http('POST', '/:idOrAddress/publish', 'Publish a world: every account can read it'),
    access: writing,
    errors: ['world_not_found'],
    params,
    data: worldRecord,
  }),
  'worlds.unpublish': operation({
    http: http('POST', '/:idOrAddress/unpublish', 'Unpublish a world: only its owner can read it'),
    access: writing,
    errors: ['world_not_found'],
    params,
    data: worldRecord,
  }),
  'worlds.delete': operation({
    http: http(
      'DELETE',
      '/:idOrAddress',
      'Delete a world without deployments, including its schemas and events',
    ),
    access: writing,
    errors: ['world_not_found', 'world_in_use'],
    params,
    data: deleted,
  }),
};
