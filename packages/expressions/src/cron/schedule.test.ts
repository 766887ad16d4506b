import { cpuMs } from '@orrery/contracts/test-support';
import { describe, expect, it } from 'vitest';
import { checkCronSchedule } from './schedule.js';

const now = Date.UTC(2026, 10, 21);
const check = (schedule: string, timezone?: string) =>
  checkCronSchedule({ schedule, ...(timezone === undefined ? {} : { timezone }) }, now)?.field;

describe('checkCronSchedule', () => {
  it.each(['* * * * *', '*/5 0-6 1,15 * MON-FRI', '0 0 29 2 *', ' 0 0 * * 7 '])('accepts %j', (schedule) => {
    expect(check(schedule)).toBeUndefined();
  });

  it.each([
    '',
    '   ',
    'soon',
    '@daily',
    '* * * *',
    '* * * * * *',
    '60 * * * *',
    '*/0 * * * *',
    '5-1 * * * *',
    '0 24 * * *',
    '0 0 * * 8',
    '2027-01-01T00:00:00',
  ])('refuses %j', (schedule) => {
    expect(check(schedule)).toBe('schedule');
  });

  it.each(['0 0 30 2 *', '0 0 31 2,4,6,9,11 *'])('refuses %j, which never fires', (schedule) => {
    expect(check(schedule)).toBe('schedule');
  });

  it('says what is wrong in words of its own', () => {
    expect(checkCronSchedule({ schedule: '*/0 * * * *' }, now)?.reason).toMatch(/^Syntax error, .*stepping/);
    expect(checkCronSchedule({ schedule: '@daily' }, now)?.reason).toMatch('five fields: minute, hour');
  });

  it.each([
    ['61 * * * *', 'The minute is 0–59, not "61".'],
    ['1,99 * * * *', 'The minute is 0–59, not "1,99".'],
    ['a * * * *', 'The minute is 0–59, not "a".'],
    ['*/15 24 * * *', 'The hour is 0–23, not "24".'],
    ['0 0 32 * *', 'The day of the month is 1–31, not "32".'],
    ['0 0 L 0 *', 'The month is 1–12, not "0".'],
    ['0 0 * FOO *', 'The month is 1–12, not "FOO".'],
    ['0 0 * JAN 8', 'The day of the week is 0–7, not "8".'],
    ['0 0 15W * MON-FRY', 'The day of the week is 0–7, not "MON-FRY".'],
  ])('says of %j what its field may be', (schedule, reason) => {
    expect(checkCronSchedule({ schedule }, now)).toEqual({ field: 'schedule', reason });
  });

  it('checks the time zone', () => {
    expect(check('0 9 * * *', 'Europe/Vienna')).toBeUndefined();
    for (const zone of ['', 'Mars/Phobos', '+05:00', 'Europe/Vienna ', '__proto__'])
      expect(check('0 9 * * *', zone)).toBe('timezone');
  });

  it('ends quickly on the longest patterns', () => {
    const schedule = `${Array.from({ length: 300 }, () => '0').join(',')} 0 31 2 *`;
    expect(cpuMs(() => check(schedule))).toBeLessThan(500);
  });
});
