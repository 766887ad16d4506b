/**
 * Cases of the tests of github.com/robfig/cron v3.0.1 (MIT, Copyright 2012 Rob Figueiredo; Debian's
 * golang-github-robfig-cron-dev), in a form of our own: five fields, the time zone apart. Where Orrery answers something
 * else, `ours` holds its answer and `because` the reason.
 */
export interface NextCase {
  readonly from: string;
  readonly schedule: string;
  readonly timezone?: string;
  /** The next due time; null where there is none. */
  readonly next: string | null;
  /** `refused`: it is not a valid schedule here. */
  readonly ours?: string | 'refused';
  readonly because?: keyof typeof DIFFERENCES;
}

export const DIFFERENCES = {
  numberStep: 'A step follows * or a range: 0/15 is written */15, and 5/15 is written 5-59/15.',
  nickname: 'A schedule has five fields; @daily is written 0 0 * * *.',
  never: 'A schedule that never fires is refused when it is saved.',
  gap: 'A single fixed hour and minute in the gap of daylight saving is due at the first valid minute.',
  overlap: 'A single fixed hour and minute in the overlap of daylight saving is due the first time only.',
} as const;

const newYork = { timezone: 'America/New_York' };

/** Whether a minute is due, as the next due time after the second before it. */
const active = (at: string, schedule: string): NextCase => ({ from: justBefore(at), schedule, next: at });
const justBefore = (at: string): string => new Date(Date.parse(at) - 1000).toISOString();
const refused = (at: string, schedule: string, because: keyof typeof DIFFERENCES): NextCase => ({
  from: at,
  schedule,
  next: at,
  ours: 'refused',
  because,
});

export const NEXT_CASES: readonly NextCase[] = [
  refused('2012-07-09T15:00:00Z', '0/15 * * * *', 'numberStep'),
  active('2012-07-09T15:45:00Z', '0-59/15 * * * *'),
  refused('2012-07-09T15:05:00Z', '5/15 * * * *', 'numberStep'),
  active('2012-07-09T15:20:00Z', '5-59/15 * * * *'),
  active('2012-07-09T15:50:00Z', '5-59/15 * * * *'),
  active('2012-07-15T15:00:00Z', '0-59/15 * * Jul *'),
  active('2012-07-15T08:30:00Z', '30 08 ? Jul Sun'),
  active('2012-07-15T08:30:00Z', '30 08 15 Jul ?'),
  refused('2012-07-09T15:00:00Z', '@hourly', 'nickname'),
  refused('2012-07-09T00:00:00Z', '@daily', 'nickname'),
  refused('2012-07-08T00:00:00Z', '@weekly', 'nickname'),
  refused('2012-07-01T00:00:00Z', '@monthly', 'nickname'),
  active('2012-07-15T00:00:00Z', '* * 1,15 * Sun'),
  active('2012-06-15T00:00:00Z', '* * 1,15 * Sun'),
  active('2012-08-01T00:00:00Z', '* * 1,15 * Sun'),
  active('2012-07-15T00:00:00Z', '* * */10 * Sun'),
  active('2012-07-15T00:00:00Z', '* * 1,15 * *'),
  active('2012-07-15T00:00:00Z', '* * */2 * Sun'),
  { from: '2012-07-09T14:45:00Z', schedule: '*/15 * * * *', next: '2012-07-09T15:00:00Z' },
  { from: '2012-07-09T14:59:59Z', schedule: '*/15 * * * *', next: '2012-07-09T15:00:00Z' },
  { from: '2012-07-09T15:45:00Z', schedule: '20-35/15 * * * *', next: '2012-07-09T16:20:00Z' },
  { from: '2012-07-09T23:46:00Z', schedule: '*/15 * * * *', next: '2012-07-10T00:00:00Z' },
  { from: '2012-07-09T23:45:00Z', schedule: '20-35/15 * * * *', next: '2012-07-10T00:20:00Z' },
  { from: '2012-07-09T23:35:51Z', schedule: '20-35/15 1-23/2 * * *', next: '2012-07-10T01:20:00Z' },
  { from: '2012-07-09T23:35:51Z', schedule: '20-35/15 10-12 * * *', next: '2012-07-10T10:20:00Z' },
  { from: '2012-07-09T23:35:51Z', schedule: '20-35/15 1-23/2 */2 * *', next: '2012-07-11T01:20:00Z' },
  { from: '2012-07-09T23:35:51Z', schedule: '20-35/15 * 9-20 * *', next: '2012-07-10T00:20:00Z' },
  { from: '2012-07-09T23:35:51Z', schedule: '20-35/15 * 9-20 Jul *', next: '2012-07-10T00:20:00Z' },
  { from: '2012-07-09T23:35:00Z', schedule: '0 0 9 Apr-Oct ?', next: '2012-08-09T00:00:00Z' },
  { from: '2012-07-09T23:35:00Z', schedule: '0 0 */5 Apr,Aug,Oct Mon', next: '2012-08-01T00:00:00Z' },
  { from: '2012-07-09T23:35:00Z', schedule: '0 0 */5 Oct Mon', next: '2012-10-01T00:00:00Z' },
  { from: '2012-07-09T23:35:00Z', schedule: '0 0 * Feb Mon', next: '2013-02-04T00:00:00Z' },
  refused('2012-07-09T23:35:00Z', '0 0 * Feb Mon/2', 'numberStep'),
  { from: '2012-12-31T23:59:45Z', schedule: '* * * * *', next: '2013-01-01T00:00:00Z' },
  { from: '2012-07-09T23:35:00Z', schedule: '0 0 29 Feb ?', next: '2016-02-29T00:00:00Z' },
  {
    ...newYork,
    from: '2012-03-11T00:00:00-05:00',
    schedule: '30 2 11 Mar ?',
    next: '2013-03-11T02:30:00-04:00',
    ours: '2012-03-11T03:00:00-04:00',
    because: 'gap',
  },
  { ...newYork, from: '2012-03-11T00:00:00-05:00', schedule: '0 * * * ?', next: '2012-03-11T01:00:00-05:00' },
  { ...newYork, from: '2012-03-11T01:00:00-05:00', schedule: '0 * * * ?', next: '2012-03-11T03:00:00-04:00' },
  { ...newYork, from: '2012-03-11T03:00:00-04:00', schedule: '0 * * * ?', next: '2012-03-11T04:00:00-04:00' },
  { ...newYork, from: '2012-03-11T04:00:00-04:00', schedule: '0 * * * ?', next: '2012-03-11T05:00:00-04:00' },
  { ...newYork, from: '2012-03-11T00:00:00-05:00', schedule: '0 1 * * ?', next: '2012-03-11T01:00:00-05:00' },
  { ...newYork, from: '2012-03-11T01:00:00-05:00', schedule: '0 1 * * ?', next: '2012-03-12T01:00:00-04:00' },
  {
    ...newYork,
    from: '2012-03-11T00:00:00-05:00',
    schedule: '0 2 * * ?',
    next: '2012-03-12T02:00:00-04:00',
    ours: '2012-03-11T03:00:00-04:00',
    because: 'gap',
  },
  {
    ...newYork,
    from: '2012-11-04T00:00:00-04:00',
    schedule: '30 2 4 Nov ?',
    next: '2012-11-04T02:30:00-05:00',
  },
  {
    ...newYork,
    from: '2012-11-04T01:45:00-04:00',
    schedule: '30 1 4 Nov ?',
    next: '2012-11-04T01:30:00-05:00',
    ours: '2013-11-04T01:30:00-05:00',
    because: 'overlap',
  },
  { ...newYork, from: '2012-11-04T00:00:00-04:00', schedule: '0 * * * ?', next: '2012-11-04T01:00:00-04:00' },
  { ...newYork, from: '2012-11-04T01:00:00-04:00', schedule: '0 * * * ?', next: '2012-11-04T01:00:00-05:00' },
  { ...newYork, from: '2012-11-04T01:00:00-05:00', schedule: '0 * * * ?', next: '2012-11-04T02:00:00-05:00' },
  { ...newYork, from: '2012-11-04T00:00:00-04:00', schedule: '0 1 * * ?', next: '2012-11-04T01:00:00-04:00' },
  {
    ...newYork,
    from: '2012-11-04T01:00:00-04:00',
    schedule: '0 1 * * ?',
    next: '2012-11-04T01:00:00-05:00',
    ours: '2012-11-05T01:00:00-05:00',
    because: 'overlap',
  },
  { ...newYork, from: '2012-11-04T01:00:00-05:00', schedule: '0 1 * * ?', next: '2012-11-05T01:00:00-05:00' },
  { ...newYork, from: '2012-11-04T00:00:00-04:00', schedule: '0 2 * * ?', next: '2012-11-04T02:00:00-05:00' },
  { ...newYork, from: '2012-11-04T02:00:00-05:00', schedule: '0 2 * * ?', next: '2012-11-05T02:00:00-05:00' },
  { ...newYork, from: '2012-11-04T00:00:00-04:00', schedule: '0 3 * * ?', next: '2012-11-04T03:00:00-05:00' },
  { ...newYork, from: '2012-11-04T03:00:00-05:00', schedule: '0 3 * * ?', next: '2012-11-05T03:00:00-05:00' },
  { ...newYork, from: '2012-11-04T00:00:00-04:00', schedule: '0 3 3 * ?', next: '2012-12-03T03:00:00-05:00' },
  { from: '2012-07-09T23:35:00Z', schedule: '0 0 30 Feb ?', next: null, ours: 'refused', because: 'never' },
  { from: '2012-07-09T23:35:00Z', schedule: '0 0 31 Apr ?', next: null, ours: 'refused', because: 'never' },
  {
    timezone: 'America/Sao_Paulo',
    from: '2018-10-17T05:00:00-04:00',
    schedule: '0 9 10 * ?',
    next: '2018-11-10T06:00:00-05:00',
  },
  {
    timezone: 'America/Sao_Paulo',
    from: '2018-02-14T05:00:00-05:00',
    schedule: '0 9 22 * ?',
    next: '2018-02-22T07:00:00-05:00',
  },
  {
    timezone: 'Asia/Kolkata',
    from: '2016-01-03T13:09:03+05:30',
    schedule: '14 14 * * *',
    next: '2016-01-03T14:14:00+05:30',
  },
  {
    timezone: 'Asia/Kolkata',
    from: '2016-01-03T04:09:03+05:30',
    schedule: '14 14 * * ?',
    next: '2016-01-03T14:14:00+05:30',
  },
];

/** Minutes that are not due: the next due time is another one. */
export const INACTIVE: readonly (readonly [at: string, schedule: string])[] = [
  ['2012-07-09T15:40:00Z', '0-59/15 * * * *'],
  ['2012-07-15T15:00:00Z', '0-59/15 * * Jun *'],
  ['2012-07-16T08:30:00Z', '30 08 ? Jul Sun'],
  ['2012-07-16T08:30:00Z', '30 08 15 Jul ?'],
  ['2012-07-15T00:00:00Z', '* * * * Mon'],
  ['2012-07-09T00:00:00Z', '* * 1,15 * *'],
];

export const INVALID: readonly string[] = [
  'xyz',
  '60 0 * * *',
  '0 60 * * *',
  '0 0 * * XYZ',
  '15/0 * * * *',
  '5--5 * * * *',
  '0 0 1 jan-x *',
  '0 2-x * * *',
  '*/-12 * * * *',
  '*//2 * * * *',
  '0 0 0 * *',
  '5-3 * * * *',
  '*/0 * * * *',
  '5 j * * *',
  '@every Xm',
  '@unrecognized',
  '* * * *',
  '',
];
