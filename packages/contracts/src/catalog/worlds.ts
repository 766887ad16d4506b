import { z } from 'zod';
import { worldInPath } from '../names/paths.js';
import { MOST_CONTENT, worldBytes } from '../records/content-limits.js';
import {
  address,
  name,
  nullableText,
  prompt,
  recordId,
  recordTimes,
  sentDescription,
  storedName,
} from '../records/fields.js';
import { pageQuery } from '../records/pagination.js';
import { idempotentHeaders, operationsBelow } from '../rpc/operation.js';

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
const { list, read, remove, write } = operationsBelow('/api/worlds', 'Worlds');

export const worldRpcs = {
  'worlds.list': list('', 'List your own worlds and the published ones', {
    access: { scope: 'read', relation: 'account' },
    errors: ['page_too_deep'],
    query: pageQuery.extend({
      owner: z.literal('me').optional().describe('`me` leaves out the worlds of other accounts.'),
    }),
    item: worldRecord,
  }),
  'worlds.create': write('POST', '', 'Create a world', {
    http: {
      status: 201,
      bodyBytes: worldBytes,
      location: (_request, world) => `/api/worlds/${world['address']}`,
    },
    access: { scope: 'write', relation: 'account' },
    errors: ['quota_exceeded', 'idempotency_key_reused', 'request_in_flight'],
    headers: idempotentHeaders,
    body: createWorldBody,
    data: worldRecord,
  }),
  'worlds.get': read('/:idOrAddress', 'Get a world', {
    errors: ['world_not_found'],
    params,
    data: worldRecord,
  }),
  'worlds.update': write('PUT', '/:idOrAddress', 'Update a world; absent fields keep their values', {
    http: { bodyBytes: worldBytes },
    errors: ['world_not_found'],
    params,
    body: updateWorldBody,
    data: worldRecord,
  }),
  'worlds.publish': write('POST', '/:idOrAddress/publish', 'Publish a world: every account can read it', {
    errors: ['world_not_found'],
    params,
    data: worldRecord,
  }),
  'worlds.unpublish': write(
    'POST',
    '/:idOrAddress/unpublish',
    'Unpublish a world: only its owner can read it',
    {
      errors: ['world_not_found'],
      params,
      data: worldRecord,
    },
  ),
  'worlds.delete': remove(
    '/:idOrAddress',
    'Delete a world without deployments, including its schemas and events',
    {
      errors: ['world_not_found', 'world_in_use'],
      params,
    },
  ),
};
