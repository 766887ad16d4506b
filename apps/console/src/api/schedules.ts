import type { components, Orrery } from '@orrery/sdk';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { deploymentPath } from './deployment-path.js';
import { deploymentKey } from './deployments.js';
import { readAll, readPage } from './read-page.js';
import type { DeploymentRef } from './records.js';

export type Schedule = components['schemas']['Schedule'];
export type Occurrence = components['schemas']['Occurrence'];
export type OccurrenceStatus = components['schemas']['OccurrenceStatus'];

/** The scheduler works by itself: what it has done is read again this often. */
const REFRESH_MS = 5000;

export const schedulesKey = (ref: DeploymentRef) => [...deploymentKey(ref), 'schedules'] as const;

export const schedulesQuery = (orrery: Orrery, ref: DeploymentRef) =>
  queryOptions({
    queryKey: schedulesKey(ref),
    queryFn: ({ signal }) =>
      readAll(orrery, '/api/worlds/{worldAddress}/deployments/{address}/schedules', {
        path: deploymentPath(ref),
        signal,
      }),
    refetchInterval: REFRESH_MS,
  });

export interface LedgerPage {
  readonly event: string;
  readonly page: number;
  readonly status: OccurrenceStatus | undefined;
}

/** What became of the due times of one schedule, newest first. */
export const occurrencesQuery = (orrery: Orrery, ref: DeploymentRef, { event, page, status }: LedgerPage) =>
  queryOptions({
    queryKey: [...schedulesKey(ref), event, { page, status }],
    queryFn: ({ signal }) =>
      readPage(orrery, '/api/worlds/{worldAddress}/deployments/{address}/schedules/{event}/occurrences', {
        path: { ...deploymentPath(ref), event },
        query: { page, limit: 50, ...(status && { status }) },
        signal,
      }),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });

/** The next due times of a schedule, from now on. */
export const nextTimesQuery = (orrery: Orrery, schedule: string, timezone: string, after: string | null) =>
  queryOptions({
    // With each due time that passes the next ones are others.
    queryKey: ['cron', schedule, timezone, after],
    queryFn: ({ signal }) =>
      orrery.post('/api/cron/preview', { body: { schedule, timezone, count: 5 }, signal }),
  });
