import type { Orrery } from '@orrery/sdk';
import { queryOptions } from '@tanstack/react-query';
import { readAll } from './read-page.js';

export const keysQuery = (orrery: Orrery) =>
  queryOptions({
    queryKey: ['keys'],
    queryFn: ({ signal }) => readAll(orrery, '/api/keys', { signal }),
  });

/** Who one is. */
export const meQuery = (orrery: Orrery) =>
  queryOptions({
    queryKey: ['me'],
    queryFn: ({ signal }) => orrery.get('/api/me', { signal }),
  });
