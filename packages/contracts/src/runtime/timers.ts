import { z } from 'zod';
import { MOST_FOLLOW_UPS } from '../catalog/version-parts.js';
import { jsonObject } from '../json/json-schemas.js';
import { DEPLOYMENT_PATH, deploymentPath, IN_DEPLOYMENT } from '../names/names.js';
import { name, ordinal, soughtNameInQuery, storedName, timestamp } from '../records/fields.js';
import { pageQuery } from '../records/pagination.js';
import { operationsAt } from '../rpc/operation.js';
import { entryCause } from './journal.js';

/** A timer waits this long at least, in milliseconds, unless it is due at once. */
export const LEAST_DELAY_MS = 1000;
/** A timer waits this long at most, in milliseconds: ten years of 365 days. */
export const MOST_DELAY_MS = 3650 * 24 * 60 * 60 * 1000;
/** Timers of one deployment that may be pending. */
export const MOST_TIMERS = 10_000;
/** Executions of one tree of follow-ups without delay, the one that they begin with included. */
export const MOST_IN_TREE = 256;

/** What holds for all timers; `GET /api/limits` shows it. */
export const TIMER_LIMITS = {
  followUpsPerVersion: MOST_FOLLOW_UPS,
  pendingPerDeployment: MOST_TIMERS,
  executionsWithoutDelay: MOST_IN_TREE,
  shortestDelaySeconds: LEAST_DELAY_MS / 1000,
  longestDelaySeconds: MOST_DELAY_MS / 1000,
};

const UNITS = { W: 604_800_000, D: 86_400_000, H: 3_600_000, M: 60_000, S: 1000 };
const DURATION =
  /^P(?:(\d{1,9})W|(?=[\dT])(?:(\d{1,9})D)?(?:T(?=\d)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?)?)$/;

/**
 * Milliseconds of an ISO 8601 duration in weeks, days, hours, minutes and seconds: `P1D`, `PT90S`, `PT1H30M`. Undefined for
 * any other text: months and years have no length of their own.
 */
export function durationMs(text: string): number | undefined {
  const found = text.length <= 64 ? DURATION.exec(text) : null;
  if (found === null) return undefined;
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = found
    .slice(1)
    .map((part) => Number(part ?? 0));
  const { W, D, H, M, S } = UNITS;
  return Math.round(weeks * W + days * D + hours * H + minutes * M + seconds * S);
}

const TIME = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/;

/** Milliseconds since the epoch of an RFC 3339 time; undefined for any other text. */
export function timeMs(text: string): number | undefined {
  const ms = text.length <= 64 && TIME.test(text) ? Date.parse(text.toUpperCase()) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

const DURATION_PROBLEM =
  'The delay must be an ISO 8601 duration of weeks, days, hours, minutes and seconds, such as "PT90S" or "P1D".';
const BOUNDS_PROBLEM = 'A timer waits at least 1 second and at most 3,650 days.';
const TIME_PROBLEM = 'The time must be RFC 3339, such as "2026-12-24T18:00:00Z".';

/** What is wrong with a delay, in words; undefined for a good one. Zero is no delay. */
export function delayProblem(text: string): string | undefined {
  const ms = durationMs(text);
  if (ms === undefined) return DURATION_PROBLEM;
  return ms === 0 || (ms >= LEAST_DELAY_MS && ms <= MOST_DELAY_MS) ? undefined : BOUNDS_PROBLEM;
}

/** The same of a time. */
export const timeProblem = (text: string): string | undefined =>
  timeMs(text) === undefined ? TIME_PROBLEM : undefined;

/** When a timer is to be due, in a request. */
export const timerFields = {
  after: z
    .string()
    .max(64)
    .refine((text) => durationMs(text) !== undefined, DURATION_PROBLEM)
    .refine((text) => {
      const ms = durationMs(text) ?? LEAST_DELAY_MS;
      return ms >= LEAST_DELAY_MS && ms <= MOST_DELAY_MS;
    }, BOUNDS_PROBLEM)
    .optional()
    .describe(
      'Execute later: after this ISO 8601 duration, such as `PT90S` or `P1D`; 1 second to 3,650 days. The answer is 202 ' +
        'with the timer that was set.',
    ),
  at: z
    .string()
    .max(64)
    .refine((text) => timeMs(text) !== undefined, TIME_PROBLEM)
    .optional()
    .describe(
      'Execute later: at this time by RFC 3339, in place of `after`. A time in the past, or less than a second from now, ' +
        'means in a second.',
    ),
  key: name
    .optional()
    .describe(
      'With `after` or `at`: of one key one timer of the deployment is pending, and a new one replaces it.',
    ),
};

export const timerId = z.string().meta({ maxLength: 36, description: 'Id of the timer, a UUID.' });

const shown = {
  timerId,
  event: storedName.describe('Name of the event that is executed.'),
  dueAt: timestamp.describe('When it is due, by the clock of the database. It is executed then or later.'),
  key: storedName.nullable().describe('The key of which one timer is pending. Null: none.'),
};

/** The answer of a request to execute later. */
export const timerAnswer = z
  .strictObject({
    kind: z.literal('timer').default('timer').describe('Always `timer`: which answer it is.'),
    ...shown,
    seq: ordinal.describe('The entry of the journal that says that it was set.'),
  })
  .meta({
    id: 'TimerAnswer',
    description: 'A timer that was set (202): the event is executed when it is due.',
  });
export type TimerAnswer = Omit<z.infer<typeof timerAnswer>, 'kind'>;

export const timerRecord = z
  .strictObject({
    ...shown,
    input: jsonObject.describe('Its input.'),
    caller: z.string().describe('Who executes it: the caller of the execution that set it.'),
    cause: entryCause.describe('The entry that set it.'),
    depth: ordinal.describe('How many timers led to it, itself included.'),
    executionId: z
      .string()
      .nullable()
      .describe('Id of the run that executes it now, which waits for a model. Null: it is pending.'),
  })
  .meta({ id: 'Timer', description: 'An execution that is to come.' });
export type TimerRecord = z.infer<typeof timerRecord>;

const PATH = `${DEPLOYMENT_PATH}/timers`;
const ofTimer = operationsAt(`${PATH}/:timerId`, 'Timers', {
  params: z.strictObject({ ...deploymentPath.shape, timerId }),
  errors: [...IN_DEPLOYMENT.errors, 'timer_not_found'],
});

export const timerRpcs = {
  'timers.list': operationsAt(PATH, 'Timers', IN_DEPLOYMENT).list('', 'List the timers of a deployment', {
    access: { scope: 'read', relation: 'owner' },
    item: timerRecord,
    query: pageQuery.extend({
      event: soughtNameInQuery.optional().describe('Only those that execute this event.'),
      key: soughtNameInQuery.optional().describe('Only the one with this key.'),
    }),
  }),
  'timers.get': ofTimer.read('', 'Get a timer that is to come', {
    access: { scope: 'read', relation: 'owner' },
    data: timerRecord,
  }),
  'timers.cancel': ofTimer.remove('Cancel a timer that is pending', {
    access: { scope: 'execute', relation: 'owner' },
  }),
};
