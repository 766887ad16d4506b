import cronstrue from 'cronstrue';
import type { CronSchedule } from './check-cron-schedule.js';

/** A valid schedule in English words, without its time zone; null where there are no words for it. */
export function describeSchedule({ schedule }: Pick<CronSchedule, 'schedule'>): string | null {
  try {
    return cronstrue.toString(schedule.trim(), { use24HourTimeFormat: true, verbose: false });
  } catch {
    return null;
  }
}
