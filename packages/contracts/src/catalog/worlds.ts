import { z } from 'zod';
import { worldInPath } from '../names/paths.js';
import { MOST_CONTENT, worldBytes } from '../records/content-limits.js';
import {
  address,
  deleted,
  name,
  nullableText,
  prompt,
  recordId,
  recordTimes,
  sentDescription,
  storedName,
} from '../records/fields.js';
import { pageQuery } from '../records/pagination.js';
import {
  idempotentHeaders,
  listOperation,
  operation,
  READING,
  routesBelow,
  WRITING,
} from '../rpc/operation.js';

const NAME = 'What the world is called; several worlds may have one name.';
const DESCRIPTION = 'What the world is, for people. Null: no description.';
const TAGS = 'What the world is about. AI models see the tags in their prompts.';
const SEED = 'The text that every prompt in this world begins with. Null: none.';

export const worldRecord = z
  .strictObject({
    id: recordId.describe('Numeric id. Paths take it in place of the address.'),
    address: address.describe('Address of the world. Paths take it in place of the id.'),
    name: storedName.describe(NAME),
    description: nullableText.describe(DESCRIPTION),
    domainTags: z.array(z.string()).max(MOST_CONTENT.domainTags).describe(TAGS),
    promptSeed: z.string().nullish().describe(`${SEED} Only the owner sees it.`),
    isPublic: z.boolean().describe('Whether every account can read the definitions of the world.'),
    ...recordTimes,
  })
  .meta({ id: 'World', description: 'A named simulation space.' });
export type WorldRecord = z.infer<typeof worldRecord>;

const optionalFields = {
  description: sentDescription(DESCRIPTION),
  domainTags: z.array(name).max(MOST_CONTENT.domainTags).optional().describe(TAGS),
  promptSeed: prompt.nullish().describe(`${SEED} At most 32 KiB as UTF-8 by default.`),
};
export const createWorldBody = z
  .strictObject({ name: name.describe(NAME), ...optionalFields })
  .meta({ id: 'CreateWorld', description: 'A new world. Absent members are empty.' });
export type CreateWorldBody = z.output<typeof createWorldBody>;
export const updateWorldBody = z
  .strictObject({ name: name.optional().describe(NAME), ...optionalFields })
  .meta({ id: 'UpdateWorld', description: 'Changes of a world. Absent members stay, null removes.' });
export type UpdateWorldBody = z.output<typeof updateWorldBody>;

const params = z.strictObject({ idOrAddress: worldInPath });
const http = routesBelow('/api/worlds', 'Worlds');

export const worldRpcs = {
  'worlds.list': listOperation({
    http: http('GET', '', 'List your own worlds and the published ones'),
    access: { scope: 'read', relation: 'account' },
    errors: ['page_too_deep'],
    query: pageQuery.extend({
      owner: z.literal('me').optional().describe('`me` leaves out the worlds of other accounts.'),
    }),
    item: worldRecord,
  }),
  'worlds.create': operation({
    http: http('POST', '', 'Create a world', {
      status: 201,
      bodyBytes: worldBytes,
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
    access: READING,
    errors: ['world_not_found'],
    params,
    data: worldRecord,
  }),
  'worlds.update': operation({
    http: http('PUT', '/:idOrAddress', 'Update a world; absent fields keep their values', {
      bodyBytes: worldBytes,
    }),
    access: WRITING,
    errors: ['world_not_found'],
    params,
    body: updateWorldBody,
    data: worldRecord,
  }),
  'worlds.publish': operation({
    http: http('POST', '/:idOrAddress/publish', 'Publish a world: every account can read it'),
    access: WRITING,
    errors: ['world_not_found'],
    params,
    data: worldRecord,
  }),
  'worlds.unpublish': operation({
    http: http('POST', '/:idOrAddress/unpublish', 'Unpublish a world: only its owner can read it'),
    access: WRITING,
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
    access: WRITING,
    errors: ['world_not_found', 'world_in_use'],
    params,
    data: deleted,
  }),
};
