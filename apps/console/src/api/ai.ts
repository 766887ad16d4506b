import type { components, Orrery } from '@orrery/sdk';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { deploymentPath } from './deployment-path.js';
import { deploymentKey } from './deployments.js';
import { readAll } from './read-page.js';
import type { DeploymentRef } from './records.js';

export type AiUsage = components['schemas']['AiUsage'];

/** What models have cost a deployment on some UTC days: 92 at most. */
export const usageQuery = (orrery: Orrery, ref: DeploymentRef, range: { from: string; to: string }) =>
  queryOptions({
    queryKey: [...deploymentKey(ref), 'usage', range],
    queryFn: ({ signal }) =>
      orrery.get('/api/worlds/{worldAddress}/deployments/{address}/usage', {
        path: deploymentPath(ref),
        query: range,
        signal,
      }),
    placeholderData: keepPreviousData,
  });

/** The models of the operator's list. */
export const modelsQuery = (orrery: Orrery) =>
  queryOptions({
    queryKey: ['ai-models'],
    queryFn: ({ signal }) => readAll(orrery, '/api/ai-models', { signal }),
    staleTime: 60_000,
  });
