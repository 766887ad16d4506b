import type { components, Orrery } from '@orrery/sdk';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { deploymentPath } from './deployment-path.js';
import { deploymentKey } from './deployments.js';
import { readAll, readPage } from './read-page.js';
import type { DeploymentRef } from './records.js';

export type Push = components['schemas']['Push'];
/** `unknown` is a word of the history alone. */
export type PushState = Exclude<components['schemas']['PushStatus'], 'unknown'>;

export interface PushesPage {
  readonly page: number;
  readonly chain: string | undefined;
  readonly state: PushState | undefined;
}

export const pushesKey = (ref: DeploymentRef) => [...deploymentKey(ref), 'pushes'] as const;

/** The pushes of a deployment, newest first. */
export const pushesQuery = (orrery: Orrery, ref: DeploymentRef, { page, chain, state }: PushesPage) =>
  queryOptions({
    queryKey: [...pushesKey(ref), { page, chain, state }],
    queryFn: ({ signal }) =>
      readPage(orrery, '/api/worlds/{worldAddress}/deployments/{address}/pushes', {
        path: deploymentPath(ref),
        query: { page, limit: 50, ...(chain && { chain }), ...(state && { state }) },
        signal,
      }),
    refetchInterval: 5000,
    placeholderData: keepPreviousData,
  });

/** The chains that the operator has set up. */
export const chainsQuery = (orrery: Orrery) =>
  queryOptions({
    queryKey: ['chains'],
    queryFn: ({ signal }) => readAll(orrery, '/api/chains', { signal }),
    staleTime: 60_000,
  });
