import { z } from 'zod';
import { cronSettings } from '../catalog/version-parts.js';
import { timestamp } from '../records/text.js';
import { operation } from '../rpc/operation.js';

/** Due times that a preview answers at most. */
const MAX_PREVIEWED = 100;

export const schedulePreview = z
  .strictObject({
    schedule: z.string(),
    timezone: z.string(),
    /** The schedule in English words; null where there are no words for it. */
    description: z.string().nullable(),
    /** The next due times, fewer than asked for where there are no more. */
    times: z.array(timestamp),
  })
  .meta({ id: 'SchedulePreview' });
export type SchedulePreview = z.infer<typeof schedulePreview>;

export const previewRpcs = {
  'cron.preview': operation({
    http: {
      method: 'POST',
      path: '/api/cron/preview',
      status: 200,
      tag: 'Schedules',
      summary: 'Preview the due times of a cron schedule',
    },
    access: { scope: 'read', relation: 'account' },
    errors: ['invalid_cron_schedule'],
    body: z
      .strictObject({
        schedule: cronSettings.shape.schedule,
        timezone: cronSettings.shape.timezone,
        count: z.int().min(1).max(MAX_PREVIEWED).default(5),
      })
      .meta({
        id: 'PreviewedSchedule',
        example: { schedule: '30 9 * * MON-FRI', timezone: 'Europe/Vienna' },
      }),
    data: schedulePreview,
  }),
};
