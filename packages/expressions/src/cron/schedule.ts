import { Cron } from 'croner';
import cronstrue from 'cronstrue';
import { asSentence, quoted } from '../messages/error-text.js';
import { wallClock } from '../time-zones/offset.js';

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
      reason:
        'The schedule must have five fields: minute, hour, day of month, month, day of week. "*/5 * * * *" is every five ' +
        'minutes.',
    };
  if (timezone !== undefined && !isTimeZone(timezone))
    return {
      field: 'timezone',
      reason: `"${quoted(timezone, 64)}" is not an IANA time zone, such as "Europe/Vienna".`,
    };
  try {
    const cron = new Cron(schedule.trim(), { mode: '5-part', paused: true, timezone: timezone ?? 'UTC' });
    if (cron.nextRun(new Date(now)) === null)
      return { field: 'schedule', reason: 'The schedule never fires.' };
    return undefined;
  } catch (error) {
    return { field: 'schedule', reason: wrongField(schedule) ?? reasonOf(error) };
  }
}

const MONTHS = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ');
const DAYS = 'SUN MON TUE WED THU FRI SAT'.split(' ');
const FIELDS = [
  { name: 'minute', min: 0, max: 59, words: [] },
  { name: 'hour', min: 0, max: 23, words: [] },
  { name: 'day of the month', min: 1, max: 31, words: ['L', 'W', 'LW'] },
  { name: 'month', min: 1, max: 12, words: MONTHS },
  { name: 'day of the week', min: 0, max: 7, words: ['L', ...DAYS] },
];

/** Which field holds a number out of its range, or an unknown word; croner counts some numbers from 0. */
function wrongField(schedule: string): string | undefined {
  const texts = schedule.trim().split(/\s+/);
  for (const [at, { name, min, max, words }] of FIELDS.entries()) {
    const text = texts[at] ?? '';
    // What follows a slash is a step, what follows a number sign counts weeks.
    const numbers = text.replaceAll(/[/#]\d+/g, '').match(/\d+/g) ?? [];
    const unknown = (text.match(/[a-z]+/gi) ?? []).filter((word) => !words.includes(word.toUpperCase()));
    if (unknown.length > 0 || numbers.some((one) => Number(one) < min || Number(one) > max))
      return `The ${name} is ${min}–${max}, not "${quoted(text, 64)}".`;
  }
  return undefined;
}

/** What croner says, without the name of its class in front. */
const reasonOf = (error: unknown): string =>
  asSentence(error instanceof Error ? error.message.replace(/^\w+: /, '') : 'The schedule is not valid');

/** Offsets such as `+05:00` are zones to `Intl` too, but no IANA names. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    wallClock(name);
    return true;
  } catch {
    return false;
  }
}

/** A valid schedule in English words, without its time zone; null where there are no words for it. */
export function describeSchedule({ schedule }: Pick<CronSchedule, 'schedule'>): string | null {
  try {
    return cronstrue.toString(schedule.trim(), { use24HourTimeFormat: true, verbose: false });
  } catch {
    return null;
  }
}
