import type { Orrery } from '@orrery/sdk';
import { queryOptions } from '@tanstack/react-query';
import { readAll } from './read-page.js';
import { worldKey } from './worlds.js';

export const schemasQuery = (orrery: Orrery, world: string) =>
  queryOptions({
    queryKey: [...worldKey(world), 'schemas'],
    queryFn: ({ signal }) =>
      readAll(orrery, '/api/worlds/{worldAddress}/entity-schemas', {
        path: { worldAddress: world },
        signal,
      }),
  });

export const schemaQuery = (orrery: Orrery, world: string, schemaName: string) =>
  queryOptions({
    queryKey: [...worldKey(world), 'schemas', schemaName],
    queryFn: ({ signal }) =>
      orrery.get('/api/worlds/{worldAddress}/entity-schemas/{schemaName}', {
        path: { worldAddress: world, schemaName },
        signal,
      }),
  });
