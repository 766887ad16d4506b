import type { Orrery } from '@orrery/sdk';
import { queryOptions } from '@tanstack/react-query';
import { readAll } from './read-page.js';
import { worldKey } from './worlds.js';

export const eventsQuery = (orrery: Orrery, world: string) =>
  queryOptions({
    queryKey: [...worldKey(world), 'events'],
    queryFn: ({ signal }) =>
      readAll(orrery, '/api/worlds/{worldAddress}/events', { path: { worldAddress: world }, signal }),
  });

export const eventQuery = (orrery: Orrery, world: string, eventName: string) =>
  queryOptions({
    queryKey: [...worldKey(world), 'events', eventName],
    queryFn: ({ signal }) =>
      orrery.get('/api/worlds/{worldAddress}/events/{eventName}', {
        path: { worldAddress: world, eventName },
        signal,
      }),
  });

export const versionsQuery = (orrery: Orrery, world: string, eventName: string) =>
  queryOptions({
    queryKey: [...worldKey(world), 'events', eventName, 'versions'],
    queryFn: ({ signal }) =>
      readAll(orrery, '/api/worlds/{worldAddress}/events/{eventName}/event-versions', {
        path: { worldAddress: world, eventName },
        signal,
      }),
  });
