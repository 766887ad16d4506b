import { fieldProblem, type Handlers, type previewRpcs, ServiceError } from '@orrery/contracts';
import { type CronSchedule, checkCronSchedule, describeSchedule, nextDue } from '@orrery/expressions';
import type { DatabaseClock } from '../store/tables/database-clock.js';

export const previewHandlers = ({
  databaseNow,
}: {
  readonly databaseNow: DatabaseClock;
}): Handlers<typeof previewRpcs> => ({
  'cron.preview': async ({ body: { schedule, timezone, count } }) => {
    const now = await databaseNow();
    const cron = { schedule, timezone };
    refuseInvalid(cron, now);
    const times = nextTimes(cron, now, count).map((time) => new Date(time).toISOString());
    return { data: { schedule, timezone: timezone ?? 'UTC', description: describeSchedule(cron), times } };
  },
});

/** @throws `invalid_cron_schedule` */
function refuseInvalid(cron: CronSchedule, now: number): void {
  const problem = checkCronSchedule(cron, now);
  if (problem === undefined) return;
  const errors = [fieldProblem(`/${problem.field}`, 'invalid_cron_schedule', problem.reason)];
  throw new ServiceError('invalid_cron_schedule', `/${problem.field}: ${problem.reason}`, { errors });
}

/** The next due times, in order; fewer where there are no more. */
function nextTimes(cron: CronSchedule, after: number, count: number): number[] {
  const times: number[] = [];
  for (let time = nextDue(cron, after); time !== undefined && times.length < count; ) {
    times.push(time);
    time = nextDue(cron, time);
  }
  return times;
}
