import type { HistoryEntry } from '@orrery/sdk';
import {
  DEPLOYMENT,
  deploymentKey,
  deploymentPath,
  HISTORY,
  PUSHES,
  SCHEDULES,
  TIMERS,
  useDeployment,
  useUsage,
  WEBHOOKS,
} from '../api/deployments.js';
import { useGet, useList, usePage, useRead } from '../api/read.js';
import type { DeploymentRef } from '../api/records.js';
import { lastDays } from '../usage/usage-series.js';
import { type Known, MOST_FAILED } from './attention.js';

/** An overview is read again this often, in milliseconds. */
const REREAD = { refetchInterval: 30_000 };

export interface Overview extends Known {
  readonly pendingTimers: number | undefined;
  readonly unfinishedPushes: number | undefined;
  /** Why a part could not be read; null where all was. */
  readonly error: Error | null;
}

/** What an overview tells of a deployment beside its executions. */
export function useOverview(ref: DeploymentRef): Overview {
  const path = deploymentPath(ref);
  const deployment = useDeployment(ref);
  const schedules = useList(SCHEDULES, path, REREAD);
  const stopped = usePage(PUSHES, path, { page: 1, state: 'failed' }, REREAD);
  const queued = usePage(PUSHES, path, { page: 1, state: 'queued' }, REREAD);
  const submitted = usePage(PUSHES, path, { page: 1, state: 'submitted' }, REREAD);
  const webhooks = useList(WEBHOOKS, path, REREAD);
  const payments = usePage(`${DEPLOYMENT}/payments`, path, { page: 1 }, REREAD);
  const timers = usePage(TIMERS, path, { page: 1 }, REREAD);
  const usage = useUsage(ref, lastDays(1, new Date()));
  const failed = useGet(HISTORY, { path, query: { status: 'failed', limit: MOST_FAILED } }, REREAD);
  const parts = [
    deployment,
    schedules,
    stopped,
    queued,
    submitted,
    webhooks,
    payments,
    timers,
    usage,
    failed,
  ];
  const sum = (...counts: readonly (number | undefined)[]) =>
    counts.every((count) => count !== undefined) ? counts.reduce((all, count) => all + count, 0) : undefined;
  return {
    deployment: deployment.data,
    schedules: schedules.data?.data,
    stoppedPushes: stopped.data?.data,
    webhooks: webhooks.data?.data,
    payments: payments.data?.totals,
    timers: timers.data?.data,
    usageToday: usage.data,
    failed: failed.data,
    pendingTimers: timers.data?.pagination.total,
    unfinishedPushes: sum(queued.data?.pagination.total, submitted.data?.pagination.total),
    error: parts.find(({ error }) => error !== null)?.error ?? null,
  };
}

/** Executions that are read: of a busy deployment these are the latest minutes. */
export const MOST_READ = 2000;

export interface Recent {
  /** Newest first. */
  readonly executions: readonly HistoryEntry[];
  /** There are more since then. */
  readonly isCut: boolean;
}

/** The executions since a time, in seconds since 1970, as far as they are among the latest. */
export const useRecent = (ref: DeploymentRef, since: number) =>
  useRead<Recent>(
    [...deploymentKey(ref), 'recent', since],
    async (orrery, signal) => {
      const executions: HistoryEntry[] = [];
      for await (const entry of orrery.deployment(ref.world, ref.deployment).history({ signal })) {
        if (Date.parse(entry.executedAt) / 1000 < since) return { executions, isCut: false };
        if (executions.length >= MOST_READ) return { executions, isCut: true };
        executions.push(entry);
      }
      return { executions, isCut: false };
    },
    { staleTime: 30_000 },
  );
