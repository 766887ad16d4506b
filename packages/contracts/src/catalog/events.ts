import { z } from 'zod';
import { eventInPath, segmentName, worldInPath } from '../names/names.js';
import { namedBytes } from '../records/content-limits.js';
import {
  nullableText,
  ordinal,
  recordId,
  recordTimes,
  sentDescription,
  storedName,
} from '../records/fields.js';
import { operationsAt, withETag } from '../rpc/operation.js';
import { versionErrors } from './event-versions.js';
import { versionBody } from './version-parts.js';

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

const inWorld = {
  params: z.strictObject({ worldAddress: worldInPath }),
  errors: ['world_not_found'],
} as const;
const all = operationsAt('/api/worlds/:worldAddress/events', 'Events', inWorld);
const one = operationsAt('/api/worlds/:worldAddress/events/:eventName', 'Events', {
  params: inWorld.params.extend({ eventName: eventInPath }),
  errors: [...inWorld.errors, 'event_not_found'],
});

export const eventRpcs = {
  'events.list': all.list('', 'List the events of a world', { item: eventRecord }),
  'events.create': withETag(
    all.create('Create an event with its first version', {
      errors: ['event_exists', ...versionErrors, 'limit_reached', 'request_in_flight'],
      body: createEventBody,
      data: eventRecord,
    }),
  ),
  'events.get': withETag(one.read('', 'Get an event', { data: eventRecord })),
  'events.update': one.update('Update an event; a bound event cannot be renamed', {
    http: { bodyBytes: namedBytes },
    errors: ['event_exists', 'event_in_use'],
    body: updateEventBody,
    data: eventRecord,
  }),
  'events.delete': one.remove('Delete an event without bindings, including its unlocked versions', {
    errors: ['event_in_use', 'version_locked'],
  }),
};
