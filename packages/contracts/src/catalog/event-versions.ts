import { z } from 'zod';
import type { ErrorCode } from '../errors/service-error.js';
import { jsonObject } from '../json/json-schemas.js';
import { eventInPath, versionInPath, worldInPath } from '../names/names.js';
import { ordinal, recordId, recordTimes, sha256, storedName, timestamp } from '../records/fields.js';
import { operationsAt, withETag } from '../rpc/operation.js';
import {
  executionSettings,
  followUps,
  guards,
  modeMap,
  mutationSettings,
  readEntity,
  readHistory,
  VERSION_TEXTS,
  versionBody,
} from './version-parts.js';

export const versionRecord = z
  .strictObject({
    id: recordId.describe('Numeric id.'),
    eventId: recordId.describe('Numeric id of its event.'),
    event: storedName.describe('Name of its event.'),
    version: ordinal.describe('Its number among the versions of the event: 1, 2, 3 …, never used again.'),
    isLocked: z.boolean().describe('Whether it is locked: its definition never changes any more.'),
    lockedAt: timestamp.nullable().describe('When it was locked. Null: it is not locked.'),
    versionHash: sha256.describe(
      'Hash of the definition and of the schemas that it runs with. It changes with either until it is locked.',
    ),
    inputSchema: jsonObject.nullable().describe(VERSION_TEXTS.inputSchema),
    outputSchema: jsonObject.nullable().describe(VERSION_TEXTS.outputSchema),
    readEntities: z.array(readEntity).max(500).describe(VERSION_TEXTS.readEntities),
    readHistory: readHistory.optional().describe(`${VERSION_TEXTS.readHistory} Absent: none.`),
    stateChanges: modeMap.nullable().describe(VERSION_TEXTS.stateChanges),
    behaviorPrompt: z.string().nullish().describe(`${VERSION_TEXTS.behaviorPrompt} Only the owner sees it.`),
    mutationSettings: mutationSettings
      .nullable()
      .describe(`${VERSION_TEXTS.mutationSettings} Only the owner sees template and prompt.`),
    executionSettings: executionSettings
      .nullable()
      .describe(`${VERSION_TEXTS.executionSettings} Only the owner sees the input of its schedule.`),
    guards: guards.nullable().describe(VERSION_TEXTS.guards),
    followUps: followUps
      .optional()
      .describe(`${VERSION_TEXTS.followUps} Only the owner sees them. Absent: nothing.`),
    ...recordTimes,
  })
  .meta({ id: 'EventVersion', description: 'One numbered definition of an event.' });
export type VersionRecord = z.infer<typeof versionRecord>;

/** What can be wrong with a version's definition, found when it is saved. */
export const versionErrors = [
  'conflicting_fields',
  'template_required',
  'invalid_template',
  'behavior_prompt_required',
  'invalid_cron_schedule',
  'unknown_entity_schema',
] as const satisfies readonly ErrorCode[];

const ofEvent = {
  params: z.strictObject({ worldAddress: worldInPath, eventName: eventInPath }),
  errors: ['world_not_found', 'event_not_found'],
} as const;
const PATH = '/api/worlds/:worldAddress/events/:eventName/event-versions';
const all = operationsAt(PATH, 'Event versions', ofEvent);
const one = operationsAt(`${PATH}/:version`, 'Event versions', {
  params: ofEvent.params.extend({ version: versionInPath }),
  errors: [...ofEvent.errors, 'event_version_not_found'],
});

export const versionRpcs = {
  'versions.list': all.list('', 'List the versions of an event', { item: versionRecord }),
  'versions.create': withETag(
    all.create('Create the next version of an event', {
      named: 'version',
      errors: [...versionErrors, 'limit_reached', 'request_in_flight'],
      body: versionBody,
      data: versionRecord,
    }),
  ),
  'versions.get': withETag(one.read('', 'Get an event version', { data: versionRecord })),
  'versions.update': one.update('Update an unlocked event version; absent fields keep their values', {
    errors: [...versionErrors, 'version_locked'],
    body: versionBody,
    data: versionRecord,
  }),
  'versions.lock': one.write(
    'POST',
    '/lock',
    'Lock an event version permanently, including the schemas that it names',
    { data: versionRecord },
  ),
  'versions.delete': one.remove('Delete an event version that is neither locked nor bound', {
    errors: ['version_locked', 'event_version_in_use'],
  }),
};
