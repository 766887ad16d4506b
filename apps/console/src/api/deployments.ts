import type { Orrery } from '@orrery/sdk';
import { queryOptions } from '@tanstack/react-query';
import { readPage } from './read-page.js';
import type { DeploymentRef } from './records.js';
import { worldKey } from './worlds.js';

/** What belongs to a deployment has a key that begins with this one. */
export const deploymentKey = ({ world, deployment }: DeploymentRef) =>
  [...worldKey(world), 'deployments', deployment] as const;

export const deploymentsQuery = (orrery: Orrery, world: string) =>
  queryOptions({
    queryKey: [...worldKey(world), 'deployments'],
    queryFn: ({ signal }) =>
      readPage(orrery, '/api/worlds/{worldAddress}/deployments', { path: { worldAddress: world }, signal }),
  });

export const deploymentQuery = (orrery: Orrery, ref: DeploymentRef) =>
  queryOptions({
    queryKey: deploymentKey(ref),
    queryFn: ({ signal }) =>
      orrery.get('/api/worlds/{worldAddress}/deployments/{address}', {
        path: { worldAddress: ref.world, address: ref.deployment },
        signal,
      }),
  });
