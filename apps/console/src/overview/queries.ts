import {
  DEPLOYMENT,
  deploymentPath,
  PUSHES,
  SCHEDULES,
  useDeployment,
  WEBHOOKS,
} from '../api/deployments.js';
import { PAGED, useGet, useList, usePage } from '../api/read.js';
import type { DeploymentRef, Overview } from '../api/records.js';
import type { Known } from './attention.js';
import type { Span } from './spans.js';

/** An overview is read again this often, in milliseconds; in a world, where there are several, half as often. */
export const REREAD = { refetchInterval: 30_000 };
export const REREAD_IN_WORLD = { refetchInterval: 60_000 };
/** A long history is counted in several calls: the next one at once, so to say. */
const COUNTING = 1000;

/** How executions went, as the service counts them. */
export const useExecutions = (ref: DeploymentRef, of: Span, { refetchInterval }: typeof REREAD = REREAD) =>
  useGet(
    `${DEPLOYMENT}/overview`,
    { path: deploymentPath(ref), query: { of } },
    {
      ...PAGED,
      refetchInterval: ({ state }) =>
        (state.data as Overview | undefined)?.isBehind ? COUNTING : refetchInterval,
    },
  );

export interface Parts extends Known {
  /** Why a part could not be read; null where all was. */
  readonly error: Error | null;
}

/** What may need attention in a deployment, whose record is known. */
export function useParts(
  ref: DeploymentRef,
  deployment: Known['deployment'],
  options: typeof REREAD = REREAD,
): Parts {
  const path = deploymentPath(ref);
  const overview = useExecutions(ref, 'day', options);
  const schedules = useList(SCHEDULES, path, options);
  const stopped = usePage(PUSHES, path, { page: 1, state: 'failed' }, options);
  const webhooks = useList(WEBHOOKS, path, options);
  return {
    deployment,
    overview: overview.data,
    schedules: schedules.data?.data,
    stoppedPushes: stopped.data?.data,
    webhooks: webhooks.data?.data,
    error: firstError([overview, schedules, stopped, webhooks]),
  };
}

export interface Whole extends Parts {
  readonly unfinishedPushes: number | undefined;
}

/** The same, and what is under way. */
export function useWhole(ref: DeploymentRef): Whole {
  const path = deploymentPath(ref);
  const deployment = useDeployment(ref);
  const parts = useParts(ref, deployment.data);
  const queued = usePage(PUSHES, path, { page: 1, state: 'queued' }, REREAD);
  const submitted = usePage(PUSHES, path, { page: 1, state: 'submitted' }, REREAD);
  const [waiting, sent] = [queued, submitted].map(({ data }) => data?.pagination.total);
  return {
    ...parts,
    unfinishedPushes: waiting === undefined || sent === undefined ? undefined : waiting + sent,
    error: parts.error ?? firstError([deployment, queued, submitted]),
  };
}

const firstError = (parts: readonly { readonly error: Error | null }[]): Error | null =>
  parts.find(({ error }) => error !== null)?.error ?? null;
