import { z } from 'zod';
import { segmentName } from '../names/names.js';
import { eventInPath, worldInPath } from '../names/paths.js';
import { namedBytes } from '../records/content-limits.js';
import {
  nullableText,
  ordinal,
  recordId,
  recordTimes,
  sentDescription,
  storedName,
} from '../records/fields.js';
import { pageQuery } from '../records/pagination.js';
import { idempotentHeaders, operationsBelow } from '../rpc/operation.js';
import { versionErrors } from './event-versions.js';
import { versionBody } from './version-body.js';

const NAME = 'What the event is called; unique in its world.';
const DESCRIPTION = 'What the event is, for people. Null: no description.';

export const eventRecord = z
  .strictObject({
    id: recordId.describe('Numeric id.'),
    worldId: recordId.describe('Numeric id of its world.'),
    name: storedName.describe(NAME),
    description: nullableText.describe(DESCRIPTION),
    latestVersion: ordinal
      .nullable()
      .describe('The highest version number that exists. Null: all versions are deleted.'),
    ...recordTimes,
  })
  .meta({ id: 'Event', description: 'An operation that deployments of the world can execute.' });
export type EventRecord = z.infer<typeof eventRecord>;

export const createEventBody = z
  .strictObject({
    name: segmentName.describe(NAME),
    description: sentDescription(DESCRIPTION),
    firstVersion: versionBody.describe('The definition of version 1.'),
  })
  .meta({ id: 'CreateEvent', description: 'A new event with its first version.' });
export type CreateEventBody = z.output<typeof createEventBody>;
export const updateEventBody = z
  .strictObject({
    name: segmentName.optional().describe(`${NAME} A bound event keeps its name.`),
    description: sentDescription(DESCRIPTION),
  })
  .meta({ id: 'UpdateEvent', description: 'Changes of an event. Absent members stay, null removes.' });
export type UpdateEventBody = z.output<typeof updateEventBody>;

const inWorld = z.strictObject({ worldAddress: worldInPath });
const params = inWorld.extend({ eventName: eventInPath });
const { list, read, remove, write } = operationsBelow('/api/worlds/:worldAddress/events', 'Events');

export const eventRpcs = {
  'events.list': list('', 'List the events of a world', {
    errors: ['world_not_found', 'page_too_deep'],
    params: inWorld,
    query: pageQuery,
    item: eventRecord,
  }),
  'events.create': write('POST', '', 'Create an event with its first version', {
    http: {
      status: 201,
      location: ({ params: { worldAddress } }, event) =>
        `/api/worlds/${worldAddress}/events/${encodeURIComponent(String(event['name']))}`,
    },
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
  'events.get': read('/:eventName', 'Get an event', {
    errors: ['world_not_found', 'event_not_found'],
    params,
    data: eventRecord,
  }),
  'events.update': write('PUT', '/:eventName', 'Update an event; a bound event cannot be renamed', {
    http: { bodyBytes: namedBytes },
    errors: ['world_not_found', 'event_not_found', 'event_exists', 'event_in_use'],
    params,
    body: updateEventBody,
    data: eventRecord,
  }),
  'events.delete': remove(
    '/:eventName',
    'Delete an event without bindings, including its unlocked versions',
    {
      errors: ['world_not_found', 'event_not_found', 'event_in_use', 'version_locked'],
      params,
    },
  ),
};
