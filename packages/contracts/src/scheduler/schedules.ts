import { z } from 'zod';
import { cronSettings } from '../catalog/version-parts.js';
import { DEPLOYMENT_PATH, deploymentPath, IN_DEPLOYMENT } from '../names/names.js';
import { count, name, nullableText, ordinal, recordId, storedName, timestamp } from '../records/fields.js';
import { pageQuery } from '../records/pagination.js';
import { idempotentHeaders, OF_ACCOUNT, operationsAt } from '../rpc/operation.js';
import { executionError, executionStatus } from '../runtime/journal.js';

export const occurrenceStatus = z.enum(['running', 'fired', 'skipped', 'missed', 'paused']).meta({
  id: 'OccurrenceStatus',
  description:
    '`running`: the outcome is not known yet; `fired`: it was executed; `skipped`, `missed`: it was not, for the `reason` ' +
    'beside it; `paused`: no due time but a span in which nothing was due.',
});
export type OccurrenceStatus = z.infer<typeof occurrenceStatus>;

export const occurrenceRecord = z
  .strictObject({
    id: recordId.describe('Numeric id.'),
    kind: z
      .enum(['due', 'manual', 'span', 'pause'])
      .describe(
        '`due`: one due time; `manual`: a run on request; `span`: several due times in one row; `pause`: a pause.',
      ),
    dueAt: timestamp.describe('When it was due; of a span the first due time, of a pause its beginning.'),
    until: timestamp.nullable().describe('The end of a span or pause. Null: neither, or the pause lasts.'),
    count: count.describe('Due times that the row stands for.'),
    status: occurrenceStatus.describe('Its outcome so far.'),
    reason: nullableText.describe(
      'Why it was skipped, missed or paused (docs/schedules.md). Null: it was not.',
    ),
    eventVersion: ordinal.nullable().describe('Version that was bound when it was due. Null: none.'),
    counter: count.nullable().describe('Its number among those that fired. Null: it has none.'),
    attempts: count.describe('Attempts to execute it, three at most.'),
    outcome: executionStatus
      .nullable()
      .describe('How its execution ended. Null: there is none, or it has not ended.'),
    historyId: nullableText.describe('Id of its history entry. Null: it has none.'),
    seq: ordinal.nullable().describe('Position of that entry in the journal. Null: it has none.'),
    error: executionError.nullable().describe('Why its execution failed. Null: it did not.'),
    startedAt: timestamp.describe('When the row was written.'),
    endedAt: timestamp.nullable().describe('When its outcome was known. Null: not yet.'),
  })
  .meta({ id: 'Occurrence', description: 'The outcome of a due time of a schedule: a row of its ledger.' });
export type OccurrenceRecord = z.infer<typeof occurrenceRecord>;

export const scheduleRecord = z
  .strictObject({
    event: storedName.describe('Name of the event.'),
    eventVersion: ordinal.describe('The bound version.'),
    schedule: z.string().describe('Its five fields: minute, hour, day of month, month, day of week.'),
    timezone: z.string().describe('The IANA time zone in which it is due.'),
    status: z.enum(['active', 'paused']).describe('Whether it is due at all.'),
    pausedBy: z
      .array(z.enum(['schedule', 'deployment']))
      .max(2)
      .describe('What is paused: the schedule itself, its deployment, or both.'),
    nextAt: timestamp.nullable().describe('The next due time. Null: it is paused.'),
    lastOccurrence: occurrenceRecord
      .nullable()
      .describe('Its latest occurrence, pauses aside. Null: none yet.'),
    counter: count.describe('Occurrences that have fired.'),
    consecutiveFailures: count.describe('Failed occurrences since the last one that succeeded.'),
    lastError: executionError
      .nullable()
      .describe('Why the latest failed one failed. Null: the last one succeeded.'),
  })
  .meta({ id: 'Schedule', description: 'When a bound event runs by itself.' });
export type ScheduleRecord = z.infer<typeof scheduleRecord>;

const all = operationsAt(`${DEPLOYMENT_PATH}/schedules`, 'Schedules', IN_DEPLOYMENT);
const one = operationsAt(`${DEPLOYMENT_PATH}/schedules/:event`, 'Schedules', {
  params: z.strictObject({
    ...deploymentPath.shape,
    event: name.describe('Name of the event, percent-encoded.'),
  }),
  errors: [...IN_DEPLOYMENT.errors, 'schedule_not_found'],
});

/** Turns a schedule on or off; idempotent. */
const action = (verb: string, summary: string) =>
  one.write('POST', `/${verb}`, summary, { data: scheduleRecord });

export const scheduleRpcs = {
  'schedules.list': all.list('', 'List the schedules of a deployment', { item: scheduleRecord }),
  /** Also of an event that is no longer bound. */
  'occurrences.list': one.list('/occurrences', 'List the occurrences of a schedule, newest first', {
    query: z.strictObject({
      ...pageQuery.shape,
      status: occurrenceStatus.optional().describe('Only occurrences with this status.'),
    }),
    item: occurrenceRecord,
  }),
  'schedules.pause': action('pause', 'Pause a schedule'),
  'schedules.resume': action('resume', 'Resume a schedule'),
  /** Executes the event now, beside the schedule. The record is `running` where the outcome takes longer. */
  'schedules.run': one.write('POST', '/run', 'Run a schedule now, beside its due times', {
    access: { scope: 'execute', relation: 'owner' },
    errors: ['deployment_paused', 'idempotency_key_reused', 'request_in_flight'],
    headers: idempotentHeaders,
    data: occurrenceRecord,
  }),
};

/** Due times that a preview answers at most. */
const MAX_PREVIEWED = 100;

export const schedulePreview = z
  .strictObject({
    schedule: z.string().describe('The schedule that was sent.'),
    timezone: z.string().describe('The time zone in which it is due; `UTC` if none was sent.'),
    description: nullableText.describe('The schedule in English words. Null: there are no words for it.'),
    times: z
      .array(timestamp)
      .max(MAX_PREVIEWED)
      .describe('The next due times; fewer than asked for where there are no more.'),
  })
  .meta({ id: 'SchedulePreview', description: 'What a schedule means.' });
export type SchedulePreview = z.infer<typeof schedulePreview>;

export const previewRpcs = {
  'cron.preview': operationsAt('/api/cron', 'Schedules', { access: OF_ACCOUNT }).write(
    'POST',
    '/preview',
    'Preview the due times of a cron schedule',
    {
      errors: ['invalid_cron_schedule'],
      body: z
        .strictObject({
          schedule: cronSettings.shape.schedule,
          timezone: cronSettings.shape.timezone,
          count: z
            .int()
            .min(1)
            .max(MAX_PREVIEWED)
            .default(5)
            .describe('How many due times to answer at most.'),
        })
        .meta({
          id: 'PreviewedSchedule',
          description: 'A schedule to try.',
          example: { schedule: '30 9 * * MON-FRI', timezone: 'Europe/Vienna' },
        }),
      data: schedulePreview,
    },
  ),
};
