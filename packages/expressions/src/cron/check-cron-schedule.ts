import { Cron } from 'croner';
import { asSentence, quoted } from '../error-text.js';

export interface CronSchedule {
  /** Five fields: minute, hour, day of month, month, day of week. */
  schedule: string;
  /** IANA name; UTC without one. */
  timezone?: string | undefined;
}

/** `field` says which of the two is wrong; `reason` is for people. */
export interface CronProblem {
  field: 'schedule' | 'timezone';
  reason: string;
}

const FIVE_FIELDS = /^\s*(\S+\s+){4}\S+\s*$/;

/**
 * What is wrong with a schedule, if anything: not five fields, a value out of range, an unknown time zone, or dates
 * that never come after `now` (milliseconds since the epoch), such as 30 February.
 */
export function checkCronSchedule(
  { schedule, timezone }: CronSchedule,
  now: number,
): CronProblem | undefined {
  // croner takes nicknames and ISO dates too, which are not five fields.
  if (!FIVE_FIELDS.test(schedule))
    return {
      field: 'schedule',
      reason: 'The schedule must have five fields: minute, hour, day of month, month, day of week.',
    };
  if (timezone !== undefined && !isTimeZone(timezone))
    return { field: 'timezone', reason: `"${quoted(timezone, 64)}" is not an IANA time zone.` };
  try {
    const cron = new Cron(schedule.trim(), { mode: '5-part', paused: true, timezone: timezone ?? 'UTC' });
    if (cron.nextRun(new Date(now)) === null)
      return { field: 'schedule', reason: 'The schedule never fires.' };
    return undefined;
  } catch (error) {
    return { field: 'schedule', reason: reasonOf(error) };
  }
}

/** What croner says, without the name of its class in front. */
const reasonOf = (error: unknown): string =>
  asSentence(error instanceof Error ? error.message.replace(/^\w+: /, '') : 'The schedule is not valid');

/** Offsets such as `+05:00` are zones to `Intl` too, but no IANA names. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
