import { z } from 'zod';
import { worldInPath } from '../names/names.js';
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
import { OF_ACCOUNT, operationsAt, withETag } from '../rpc/operation.js';

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

const all = operationsAt('/api/worlds', 'Worlds');
const one = operationsAt('/api/worlds/:idOrAddress', 'Worlds', {
  params: z.strictObject({ idOrAddress: worldInPath }),
  errors: ['world_not_found'],
});

export const worldRpcs = {
  'worlds.list': all.list('', 'List your own worlds and the published ones', {
    access: OF_ACCOUNT,
    query: pageQuery.extend({
      owner: z.literal('me').optional().describe('`me` leaves out the worlds of other accounts.'),
    }),
    item: worldRecord,
  }),
  'worlds.create': all.create('Create a world', {
    named: 'address',
    http: { bodyBytes: worldBytes },
    access: { scope: 'write', relation: 'account' },
    errors: ['quota_exceeded', 'request_in_flight'],
    body: createWorldBody,
    data: worldRecord,
  }),
  'worlds.get': withETag(one.read('', 'Get a world', { data: worldRecord })),
  'worlds.update': one.update('Update a world; absent fields keep their values', {
    http: { bodyBytes: worldBytes },
    body: updateWorldBody,
    data: worldRecord,
  }),
  'worlds.publish': one.write('POST', '/publish', 'Publish a world: every account can read it', {
    data: worldRecord,
  }),
  'worlds.unpublish': one.write('POST', '/unpublish', 'Unpublish a world: only its owner can read it', {
    data: worldRecord,
  }),
  'worlds.delete': one.remove('Delete a world without deployments, including its schemas and events', {
    errors: ['world_in_use'],
  }),
};
