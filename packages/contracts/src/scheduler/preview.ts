import { z } from 'zod';
import { cronSettings } from '../catalog/version-parts.js';
import { nullableText, timestamp } from '../records/fields.js';
import { OF_ACCOUNT, operationsAt } from '../rpc/operation.js';

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
