import { type FieldProblem, fieldProblem } from '@orrery/contracts';
import { checkCronSchedule } from '@orrery/expressions';
import type { StoredVersion } from '../stored-version.js';

/** A schedule that is given must be right, whatever the visibility; visibility `cron` needs one. */
export function wrongSchedule({ executionSettings }: StoredVersion, now: number): FieldProblem[] {
  const place = '/executionSettings/cron';
  const problem = (field: string, reason: string) => [
    fieldProblem(`${place}/${field}`, 'invalid_cron_schedule', reason),
  ];
  const cron = executionSettings?.cron;
  if (cron === undefined)
    return executionSettings?.visibility === 'cron'
      ? problem('schedule', 'visibility "cron" needs a schedule')
      : [];
  const found = checkCronSchedule(cron, now);
  return found === undefined ? [] : problem(found.field, found.reason);
}
