import type { components, Orrery } from '@orrery/sdk';
import { queryOptions } from '@tanstack/react-query';
import { deploymentPath } from './deployment-path.js';
import { deploymentKey } from './deployments.js';
import type { DeploymentRef } from './records.js';

export type EventBinding = components['schemas']['EventBinding'];
export type BindingChange = components['schemas']['BindingChange'];

/** All events that a deployment runs: 200 at most by default. */
export const bindingsQuery = (orrery: Orrery, ref: DeploymentRef) =>
  queryOptions({
    queryKey: [...deploymentKey(ref), 'bindings'],
    queryFn: async ({ signal }) => {
      const path = '/api/worlds/{worldAddress}/deployments/{address}/event-bindings';
      const data = await orrery.get(path, { path: deploymentPath(ref), signal });
      // Only a request for one event answers one.
      return Array.isArray(data) ? data : [data];
    },
  });
