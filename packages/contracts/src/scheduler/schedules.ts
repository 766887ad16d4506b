import { z } from 'zod';
import { pageQuery, wholePageQuery } from '../paging/pagination.js';
import { idempotentHeaders } from '../records/idempotency-key.js';
import { name, timestamp } from '../records/text.js';
import { listOperation, operation } from '../rpc/operation.js';
import type { HttpBinding } from '../rpc/rpc.js';
import { deploymentPath } from '../runtime/deployment-path.js';
import { executionError, executionStatus } from '../runtime/journal.js';

/**
 * How an occurrence stands. `running`: its outcome is not known yet. `fired`: it was executed, with the outcome beside it.
 * `skipped`, `missed`: it was not, for the reason beside it. `paused`: no due time but a span in which nothing was due.
 */
export const occurrenceStatus = z
  .enum(['running', 'fired', 'skipped', 'missed', 'paused'])
  .meta({ id: 'OccurrenceStatus' });
export type OccurrenceStatus = z.infer<typeof occurrenceStatus>;

export const occurrenceRecord = z
  .strictObject({
    id: z.int(),
    /** `manual`: run on request. `span`: several due times in one row, `count` of them from `dueAt` to `until`. */
    kind: z.enum(['due', 'manual', 'span', 'pause']),
    dueAt: timestamp,
    /** The end of a span or a pause; null otherwise, and while a pause lasts. */
    until: timestamp.nullable(),
    count: z.int(),
    status: occurrenceStatus,
    reason: z.string().nullable(),
    eventVersion: z.int().nullable(),
    counter: z.int().nullable(),
    attempts: z.int(),
    outcome: executionStatus.nullable(),
    historyId: z.string().nullable(),
    seq: z.int().nullable(),
    error: executionError.nullable(),
    startedAt: timestamp,
    endedAt: timestamp.nullable(),
  })
  .meta({ id: 'Occurrence' });
export type OccurrenceRecord = z.infer<typeof occurrenceRecord>;

export const scheduleRecord = z
  .strictObject({
    event: z.string(),
    eventVersion: z.int(),
    schedule: z.string(),
    timezone: z.string(),
    status: z.enum(['active', 'paused']),
    /** What has paused it: itself, its deployment, or both. */
    pausedBy: z.array(z.enum(['schedule', 'deployment'])),
    /** The next due time; null while it is paused. */
    nextAt: timestamp.nullable(),
    lastOccurrence: occurrenceRecord.nullable(),
    /** Occurrences fired. */
    counter: z.int(),
    /** Failed occurrences since the last one that succeeded. */
    consecutiveFailures: z.int(),
    lastError: executionError.nullable(),
  })
  .meta({ id: 'Schedule' });
export type ScheduleRecord = z.infer<typeof scheduleRecord>;

const all = '/api/worlds/:worldAddress/deployments/:address/schedules';
const one = `${all}/:event`;
const http = (method: HttpBinding['method'], path: string, summary: string): HttpBinding => ({
  method,
  path,
  status: 200,
  tag: 'Schedules',
  summary,
});
const schedulePath = z.strictObject({ ...deploymentPath.shape, event: name });

/** Turns a schedule on or off; idempotent. */
const action = (verb: string, summary: string) =>
  operation({
    http: http('POST', `${one}/${verb}`, summary),
    access: { scope: 'write', relation: 'owner' },
    errors: ['deployment_not_found', 'schedule_not_found'],
    params: schedulePath,
    data: scheduleRecord,
  });

export const scheduleRpcs = {
  'schedules.list': listOperation({
    http: http('GET', all, 'List the schedules of a deployment'),
    access: { scope: 'read', relation: 'visible' },
    errors: ['deployment_not_found', 'page_too_deep'],
    params: deploymentPath,
    query: wholePageQuery,
    item: scheduleRecord,
  }),
  /** Also of an event that is no longer bound. */
  'occurrences.list': listOperation({
    http: http('GET', `${one}/occurrences`, 'List the occurrences of a schedule, newest first'),
    access: { scope: 'read', relation: 'visible' },
    errors: ['deployment_not_found', 'schedule_not_found', 'page_too_deep'],
    params: schedulePath,
    query: z.strictObject({ ...pageQuery.shape, status: occurrenceStatus.optional() }),
    item: occurrenceRecord,
  }),
  'schedules.pause': action('pause', 'Pause a schedule'),
  'schedules.resume': action('resume', 'Resume a schedule'),
  /** Executes the event now, beside the schedule. The record is `running` where the outcome takes longer. */
  'schedules.run': operation({
    http: http('POST', `${one}/run`, 'Run a schedule now, beside its due times'),
    access: { scope: 'execute', relation: 'owner' },
    errors: ['deployment_not_found', 'schedule_not_found', 'deployment_paused', 'idempotency_key_reused'],
    params: schedulePath,
    headers: idempotentHeaders,
    data: occurrenceRecord,
  }),
};
