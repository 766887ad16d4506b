import type { Orrery } from '@orrery/sdk';
import { queryOptions } from '@tanstack/react-query';
import { worldKey } from './worlds.js';

/** One version of an event. */
export const versionQuery = (orrery: Orrery, world: string, eventName: string, version: number) =>
  queryOptions({
    queryKey: [...worldKey(world), 'events', eventName, 'versions', version],
    queryFn: ({ signal }) =>
      orrery.get('/api/worlds/{worldAddress}/events/{eventName}/event-versions/{version}', {
        path: { worldAddress: world, eventName, version },
        signal,
      }),
  });
