import { z } from 'zod';
import { pageQuery } from '../paging/pagination.js';
import { idempotentHeaders } from '../records/idempotency-key.js';
import { deleted, description, NAMED_BYTES, timestamp } from '../records/text.js';
import { listOperation, operation } from '../rpc/operation.js';
import type { HttpBinding } from '../rpc/rpc.js';
import { versionErrors } from './event-versions.js';
import { nameInPath, segmentName, worldInPath } from './names.js';
import { versionBody } from './version-body.js';

/** An operation that deployments of the world can run. `latestVersion`: the highest that exists, null without any. */
export const eventRecord = z
  .strictObject({
    id: z.int(),
    worldId: z.int(),
    name: z.string(),
    description: z.string().nullable(),
    latestVersion: z.int().nullable(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Event' });
export type EventRecord = z.infer<typeof eventRecord>;

export const createEventBody = z
  .strictObject({
    name: segmentName,
    description: description.nullable().optional(),
    firstVersion: versionBody,
  })
  .meta({ id: 'CreateEvent' });
export type CreateEventBody = z.output<typeof createEventBody>;
export const updateEventBody = z
  .strictObject({ name: segmentName.optional(), description: description.nullable().optional() })
  .meta({ id: 'UpdateEvent' });
export type UpdateEventBody = z.output<typeof updateEventBody>;

const inWorld = z.strictObject({ worldAddress: worldInPath });
const params = inWorld.extend({ eventName: nameInPath });
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
      bodyBytes: NAMED_BYTES,
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
