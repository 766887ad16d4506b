import type { ItemOf, ListArgument, ListPath, Orrery, Page } from '@orrery/sdk';
import { keepPreviousData, type QueryKey, type UseQueryOptions, useQuery } from '@tanstack/react-query';
import { useOrrery } from '../session/session.js';

/** Reads over the API and keeps the answer under a key; what begins with the same key can be read anew together. */
export function useRead<Answer>(
  queryKey: QueryKey,
  read: (orrery: Orrery, signal: AbortSignal) => Promise<Answer>,
  options: Pick<
    UseQueryOptions<Answer>,
    'enabled' | 'staleTime' | 'refetchInterval' | 'placeholderData'
  > = {},
) {
  const orrery = useOrrery();
  return useQuery<Answer>({ queryKey, queryFn: ({ signal }) => read(orrery, signal), ...options });
}

/** While another page is read, the one before stays. */
export const PAGED = { placeholderData: keepPreviousData };
/** What others change meanwhile is read again this often, in milliseconds. */
export const REFRESHED = { refetchInterval: 5000 };
/** What changes with the server's configuration alone. */
export const SETTLED = { staleTime: 60_000 };

/** One page of a list; of `limit` 100, unless the query says otherwise. */
export async function readPage<P extends ListPath>(
  orrery: Orrery,
  path: P,
  ...init: ListArgument<P>
): Promise<Page<ItemOf<P>>> {
  const { value } = await orrery.pages(path, ...init).next();
  return value ?? { data: [], pagination: { page: 1, limit: 100, total: 0, totalPages: 0 } };
}

/** The API bounds such lists: events and schemas of a world by 500, versions of an event by 1,000. */
const MOST_ITEMS = 1000;

/** All items of a list that the API keeps short, as one page. */
export async function readAll<P extends ListPath>(
  orrery: Orrery,
  path: P,
  ...init: ListArgument<P>
): Promise<Page<ItemOf<P>>> {
  const data: ItemOf<P>[] = [];
  let total = 0;
  for await (const page of orrery.pages(path, ...init)) {
    data.push(...page.data);
    total = page.pagination.total;
    if (data.length >= MOST_ITEMS) break;
  }
  return { data, pagination: { page: 1, limit: MOST_ITEMS, total, totalPages: 1 } };
}
