import { z } from 'zod';
import { namedBytes } from '../limits/content-limits.js';
import { pageQuery } from '../paging/pagination.js';
import { idempotentHeaders } from '../records/idempotency-key.js';
import { recordId, recordTimes } from '../records/record-fields.js';
import { deleted, description, storedName } from '../records/text.js';
import { listOperation, operation } from '../rpc/operation.js';
import type { HttpBinding } from '../rpc/rpc.js';
import { versionErrors } from './event-versions.js';
import { eventInPath, segmentName, worldInPath } from './names.js';
import { versionBody } from './version-body.js';

const NAME = 'What the event is called; unique in its world.';
const DESCRIPTION = 'What the event is, for people. Null: no description.';

export const eventRecord = z
  .strictObject({
    id: recordId.describe('Numeric id.'),
    worldId: recordId.describe('Numeric id of its world.'),
    name: storedName.describe(NAME),
    description: z.string().nullable().describe(DESCRIPTION),
    latestVersion: z
      .int()
      .min(1)
      .nullable()
      .describe('The highest version number that exists. Null: all versions are deleted.'),
    ...recordTimes,
  })
  .meta({ id: 'Event', description: 'An operation that deployments of the world can execute.' });
export type EventRecord = z.infer<typeof eventRecord>;

export const createEventBody = z
  .strictObject({
    name: segmentName.describe(NAME),
    description: description
      .nullable()
      .optional()
      .describe(`${DESCRIPTION} At most 4 KiB as UTF-8 by default.`),
    firstVersion: versionBody.describe('The definition of version 1.'),
  })
  .meta({ id: 'CreateEvent', description: 'A new event with its first version.' });
export type CreateEventBody = z.output<typeof createEventBody>;
export const updateEventBody = z
  .strictObject({
    name: segmentName.optional().describe(`${NAME} A bound event keeps its name.`),
    description: description
      .nullable()
      .optional()
      .describe(`${DESCRIPTION} At most 4 KiB as UTF-8 by default.`),
  })
  .meta({ id: 'UpdateEvent', description: 'Changes of an event. Absent members stay, null removes.' });
export type UpdateEventBody = z.output<typeof updateEventBody>;

const inWorld = z.strictObject({ worldAddress: worldInPath });
const params = inWorld.extend({ eventName: eventInPath });
const http = (
  method: HttpBinding['method'],
  rest: string,
  summary: string,
  more: Partial<HttpBinding> = {},
): HttpBinding => ({
  method,
  path: `/api/worlds/:worldAddress/events${rest}`,
  status: 200,
  tag: 'Events',
  summary,
  ...more,
});

const reading = { scope: 'read', relation: 'visible' } as const;
const writing = { scope: 'write', relation: 'owner' } as const;

export const eventRpcs = {
  'events.list': listOperation({
    http: http('GET', '', 'List the events of a world'),
    access: reading,
    errors: ['world_not_found', 'page_too_deep'],
    params: inWorld,
    query: pageQuery,
    item: eventRecord,
  }),
  'events.create': operation({
    http: http('POST', '', 'Create an event with its first version', {
      status: 201,
      location: ({ params: { worldAddress } }, event) =>
        `/api/worlds/${worldAddress}/events/${encodeURIComponent(String(event['name']))}`,
    }),
    access: writing,
    errors: [
      'world_not_found',
      'event_exists',
      ...versionErrors,
      'limit_reached',
      'idempotency_key_reused',
      'request_in_flight',
    ],
    params: inWorld,
    headers: idempotentHeaders,
    body: createEventBody,
    data: eventRecord,
  }),
  'events.get': operation({
    http: http('GET', '/:eventName', 'Get an event'),
    access: reading,
    errors: ['world_not_found', 'event_not_found'],
    params,
    data: eventRecord,
  }),
  'events.update': operation({
    http: http('PUT', '/:eventName', 'Update an event; a bound event cannot be renamed', {
      bodyBytes: namedBytes,
    }),
    access: writing,
    errors: ['world_not_found', 'event_not_found', 'event_exists', 'event_in_use'],
    params,
    body: updateEventBody,
    data: eventRecord,
  }),
  'events.delete': operation({
    http: http('DELETE', '/:eventName', 'Delete an event without bindings, including its unlocked versions'),
    access: writing,
    errors: ['world_not_found', 'event_not_found', 'event_in_use', 'version_locked'],
    params,
    data: deleted,
  }),
};
