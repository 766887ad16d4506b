import { useParams } from '@tanstack/react-router';
import { keyOf, PAGED, type ReadOptions, SETTLED, useGet, useList, usePage, useRead } from './read.js';
import type { DeploymentRef } from './records.js';
import { WORLD } from './worlds.js';

export const DEPLOYMENTS = `${WORLD}/deployments` as const;
export const DEPLOYMENT = `${DEPLOYMENTS}/{address}` as const;
export const BINDINGS = `${DEPLOYMENT}/event-bindings` as const;
export const INSTANCES = `${DEPLOYMENT}/entity-instances` as const;
export const SCHEDULES = `${DEPLOYMENT}/schedules` as const;
export const TIMERS = `${DEPLOYMENT}/timers` as const;
export const HISTORY = `${DEPLOYMENT}/history` as const;
export const PUSHES = `${DEPLOYMENT}/pushes` as const;
export const WEBHOOKS = `${DEPLOYMENT}/webhooks` as const;

export const useDeploymentRef = (): DeploymentRef =>
  useParams({ from: '/worlds/$world/deployments/$deployment' });

/** A deployment as the paths of the API name it. */
export const deploymentPath = ({ world, deployment }: DeploymentRef) => ({
  worldAddress: world,
  address: deployment,
});

/** What belongs to a deployment has a key that begins with this one. */
export const deploymentKey = (ref: DeploymentRef) => keyOf(DEPLOYMENT, deploymentPath(ref));

/** Nothing bounds how many deployments a world has. */
export const useDeployments = (world: string, page = 1, options?: ReadOptions) =>
  usePage(DEPLOYMENTS, { worldAddress: world }, { page }, options);

export const useDeployment = (ref: DeploymentRef) => useGet(DEPLOYMENT, { path: deploymentPath(ref) });

/** All events that a deployment runs: 200 at most by default. */
export const useBindings = (ref: DeploymentRef) =>
  useRead(keyOf(BINDINGS, deploymentPath(ref)), async (orrery, signal) => {
    const data = await orrery.get(BINDINGS, { path: deploymentPath(ref), signal });
    // Only a request for one event answers one.
    return Array.isArray(data) ? data : [data];
  });

/** What models have cost a deployment on some UTC days: 92 at most. */
export const useUsage = (ref: DeploymentRef, range: { from: string; to: string }) =>
  useGet(`${DEPLOYMENT}/usage`, { path: deploymentPath(ref), query: range }, PAGED);

export const useModels = () => useList('/api/ai-models', {}, SETTLED);

/** The chains that the operator has set up. */
export const useChains = () => useList('/api/chains', {}, SETTLED);

/** The next due times of a schedule, from now on; none of an empty one. */
export const useNextTimes = (schedule: string, timezone: string, after: string | null) =>
  useRead(
    // With each due time that passes the next ones are others.
    ['cron', schedule, timezone, after],
    (orrery, signal) => orrery.post('/api/cron/preview', { body: { schedule, timezone, count: 5 }, signal }),
    { enabled: schedule !== '' },
  );

interface InstanceName {
  readonly entitySchema: string;
  readonly instanceId: string;
}

/** `schema:instanceId`. */
export const instanceKey = ({ entitySchema, instanceId }: InstanceName): string =>
  `${entitySchema}:${instanceId}`;

/** The schema and the id of an instance's key, which are parted at the first colon: schema names hold none. */
export function splitKey(key: string): InstanceName {
  const at = key.indexOf(':');
  return { entitySchema: key.slice(0, at), instanceId: key.slice(at + 1) };
}
