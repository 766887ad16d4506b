import type { Orrery } from '@orrery/sdk';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { readPage } from './read-page.js';
import type { World } from './records.js';

/** Whose worlds: one's own, or all that one can read. */
export type WorldsOwner = 'me' | 'all';

export const worldsQuery = (orrery: Orrery, { owner, page }: { owner: WorldsOwner; page: number }) =>
  queryOptions({
    queryKey: ['worlds', { owner, page }],
    queryFn: ({ signal }) =>
      readPage(orrery, '/api/worlds', {
        query: { page, limit: 50, ...(owner === 'me' && { owner }) },
        signal,
      }),
    placeholderData: keepPreviousData,
  });

/** What belongs to a world has a key that begins with this one, so that all of it can be read anew. */
export const worldKey = (world: string) => ['world', world] as const;

export const worldQuery = (orrery: Orrery, world: string) =>
  queryOptions({
    queryKey: worldKey(world),
    queryFn: ({ signal }) =>
      orrery.get('/api/worlds/{idOrAddress}', { path: { idOrAddress: world }, signal }),
  });

/** Only the owner is shown the prompt seed, if only as null. */
export const isOwn = ({ promptSeed }: World): boolean => promptSeed !== undefined;
