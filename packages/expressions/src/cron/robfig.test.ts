import { describe, expect, it } from 'vitest';
import { nextDue } from './due-times.js';
import { DIFFERENCES, INACTIVE, INVALID, NEXT_CASES } from './robfig-cases.test-support.js';
import { checkCronSchedule } from './schedule.js';

const instant = (text: string) => new Date(text).toISOString();
const refuses = (schedule: string, timezone?: string) =>
  checkCronSchedule({ schedule, timezone }, Date.UTC(2012, 6, 9)) !== undefined;

describe('the cases of another cron library', () => {
  it.each(NEXT_CASES)('after $from comes $next for $schedule $timezone', (one) => {
    const { from, schedule, timezone, next, ours = next } = one;
    if (ours === 'refused') return expect(refuses(schedule, timezone)).toBe(true);
    const found = nextDue({ schedule, timezone }, Date.parse(from));
    expect(found && instant(new Date(found).toISOString())).toBe(instant(ours ?? ''));
  });

  it.each(INACTIVE)('%s is not due by %s', (at, schedule) => {
    expect(nextDue({ schedule }, Date.parse(at) - 1000)).not.toBe(Date.parse(at));
  });

  it.each(INVALID)('refuses %j', (schedule) => {
    expect(refuses(schedule)).toBe(true);
  });

  it('every difference has a reason, and every reason a difference', () => {
    const differing = NEXT_CASES.filter(({ ours }) => ours !== undefined);
    expect(differing.every(({ because }) => because !== undefined)).toBe(true);
    expect(new Set(differing.map(({ because }) => because))).toEqual(new Set(Object.keys(DIFFERENCES)));
  });
});
