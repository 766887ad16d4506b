import type { Orrery } from '@orrery/sdk';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { readPage } from './read-page.js';
import type { DeploymentRef } from './records.js';
import { worldKey } from './worlds.js';

/** What belongs to a deployment has a key that begins with this one. */
export const deploymentKey = ({ world, deployment }: DeploymentRef) =>
  [...deploymentsKey(world), deployment] as const;

/** The deployments of a world and their list. */
export const deploymentsKey = (world: string) => [...worldKey(world), 'deployments'] as const;

/** The list alone. No deployment has this address. */
export const deploymentPagesKey = (world: string) => [...deploymentsKey(world), 'pages'] as const;

/** Nothing bounds how many deployments a world has. */
export const deploymentsQuery = (orrery: Orrery, world: string, page = 1) =>
  queryOptions({
    queryKey: [...deploymentPagesKey(world), page],
    queryFn: ({ signal }) =>
      readPage(orrery, '/api/worlds/{worldAddress}/deployments', {
        path: { worldAddress: world },
        query: { page, limit: 50 },
        signal,
      }),
    placeholderData: keepPreviousData,
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
