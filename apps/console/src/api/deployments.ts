import { useParams } from '@tanstack/react-router';
import { PAGED, REFRESHED, readAll, readPage, SETTLED, useRead } from './read.js';
import type { DeploymentRef, Occurrence, Payment, Push } from './records.js';
import { worldKey } from './worlds.js';

export const DEPLOYMENTS = '/api/worlds/{worldAddress}/deployments';
export const DEPLOYMENT = `${DEPLOYMENTS}/{address}` as const;

/** A deployment as the paths of the API name it. */
export const deploymentPath = ({ world, deployment }: DeploymentRef) => ({
  worldAddress: world,
  address: deployment,
});

export const deploymentsKey = (world: string) => [...worldKey(world), 'deployments'] as const;
/** The list alone. No deployment has this address. */
export const deploymentPagesKey = (world: string) => [...deploymentsKey(world), 'pages'] as const;
/** What belongs to a deployment has a key that begins with this one. */
export const deploymentKey = (ref: DeploymentRef) => [...deploymentsKey(ref.world), ref.deployment] as const;
export const pushesKey = (ref: DeploymentRef) => [...deploymentKey(ref), 'pushes'] as const;
export const schedulesKey = (ref: DeploymentRef) => [...deploymentKey(ref), 'schedules'] as const;

export const useDeploymentRef = (): DeploymentRef =>
  useParams({ from: '/worlds/$world/deployments/$deployment' });

/** Nothing bounds how many deployments a world has. */
export const useDeployments = (world: string, page = 1) =>
  useRead(
    [...deploymentPagesKey(world), page],
    (orrery, signal) =>
      readPage(orrery, DEPLOYMENTS, { path: { worldAddress: world }, query: { page, limit: 50 }, signal }),
    PAGED,
  );

export const useDeployment = (ref: DeploymentRef) =>
  useRead(deploymentKey(ref), (orrery, signal) =>
    orrery.get(DEPLOYMENT, { path: deploymentPath(ref), signal }),
  );

export const BINDINGS = `${DEPLOYMENT}/event-bindings` as const;

/** All events that a deployment runs: 200 at most by default. */
export const useBindings = (ref: DeploymentRef) =>
  useRead([...deploymentKey(ref), 'bindings'], async (orrery, signal) => {
    const data = await orrery.get(BINDINGS, { path: deploymentPath(ref), signal });
    // Only a request for one event answers one.
    return Array.isArray(data) ? data : [data];
  });

/** What models have cost a deployment on some UTC days: 92 at most. */
export const useUsage = (ref: DeploymentRef, range: { from: string; to: string }) =>
  useRead(
    [...deploymentKey(ref), 'usage', range],
    (orrery, signal) =>
      orrery.get(`${DEPLOYMENT}/usage`, { path: deploymentPath(ref), query: range, signal }),
    PAGED,
  );

export const useModels = () =>
  useRead(['ai-models'], (orrery, signal) => readAll(orrery, '/api/ai-models', { signal }), SETTLED);

/** The chains that the operator has set up. */
export const useChains = () =>
  useRead(['chains'], (orrery, signal) => readAll(orrery, '/api/chains', { signal }), SETTLED);

interface Filter<Status> {
  page: number;
  status: Status | undefined;
}
const LIMIT = 50;

/** The payments of a deployment, newest first, with the totals of all of them. */
export const usePayments = (ref: DeploymentRef, { page, status }: Filter<Payment['status']>) =>
  useRead(
    [...deploymentKey(ref), 'payments', { page, status }],
    (orrery, signal) => {
      const query = { page, limit: LIMIT, ...(status && { status }) };
      return orrery.answer('get', `${DEPLOYMENT}/payments`, { path: deploymentPath(ref), query, signal });
    },
    { ...REFRESHED, ...PAGED },
  );

/** `unknown` is a word of the history alone. */
export type PushState = Exclude<Push['status'], 'unknown'>;

/** The pushes of a deployment, newest first. */
export const usePushes = (
  ref: DeploymentRef,
  { page, status: state, chain }: Filter<PushState> & { chain: string | undefined },
) =>
  useRead(
    [...pushesKey(ref), { page, chain, state }],
    (orrery, signal) => {
      const query = { page, limit: LIMIT, ...(chain && { chain }), ...(state && { state }) };
      return readPage(orrery, `${DEPLOYMENT}/pushes`, { path: deploymentPath(ref), query, signal });
    },
    { ...REFRESHED, ...PAGED },
  );

export const SCHEDULES = `${DEPLOYMENT}/schedules` as const;

export const useSchedules = (ref: DeploymentRef) =>
  useRead(
    schedulesKey(ref),
    (orrery, signal) => readAll(orrery, SCHEDULES, { path: deploymentPath(ref), signal }),
    REFRESHED,
  );

/** The due times of one schedule with their outcomes, newest first. */
export const useOccurrences = (
  ref: DeploymentRef,
  event: string,
  { page, status }: Filter<Occurrence['status']>,
) =>
  useRead(
    [...schedulesKey(ref), event, { page, status }],
    (orrery, signal) => {
      const path = { ...deploymentPath(ref), event };
      const query = { page, limit: LIMIT, ...(status && { status }) };
      return readPage(orrery, `${SCHEDULES}/{event}/occurrences`, { path, query, signal });
    },
    { ...REFRESHED, ...PAGED },
  );

/** The next due times of a schedule, from now on; none of an empty one. */
export const useNextTimes = (schedule: string, timezone: string, after: string | null) =>
  useRead(
    // With each due time that passes the next ones are others.
    ['cron', schedule, timezone, after],
    (orrery, signal) => orrery.post('/api/cron/preview', { body: { schedule, timezone, count: 5 }, signal }),
    { enabled: schedule !== '' },
  );
