import type { ItemOf, ListArgument, ListPath, Orrery, Page } from '@orrery/sdk';
import {
  keepPreviousData,
  QueryClient,
  type QueryClientConfig,
  type QueryKey,
  type UseQueryResult,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useOrrery } from '../session/session.js';

export type Params = Readonly<Record<string, string | number>>;

/** What is read at an address of the API has its parts as key: all below an address can be read anew together. */
export const keyOf = (path: string, params: Params = {}): string[] =>
  path
    .split('/')
    .slice(2)
    .map((part) => String(params[part.slice(1, -1)] ?? part));

/** The pages of a list alone, without what belongs to its items: behind the address a key has the query. */
export const listKeyOf = (path: string, params?: Params): QueryKey => [...keyOf(path, params), {}];

export interface ReadOptions {
  enabled?: boolean;
  /** Milliseconds. */
  staleTime?: number;
  /** Milliseconds, or what it is after the latest answer. */
  refetchInterval?: number | ((query: { readonly state: { readonly data?: unknown } }) => number);
  placeholderData?: typeof keepPreviousData;
}

/** While another page is read, the one before stays. */
export const PAGED: ReadOptions = { placeholderData: keepPreviousData };
/** What others change meanwhile. */
export const REFRESHED: ReadOptions = { refetchInterval: 5000 };
/** What changes with the server's configuration alone. */
export const SETTLED: ReadOptions = { staleTime: 60_000 };

type Read<Answer> = (orrery: Orrery, signal: AbortSignal) => Promise<Answer>;

/** Reads over the API and keeps the answer under a key. */
export function useRead<Answer>(queryKey: QueryKey, read: Read<Answer>, options?: ReadOptions) {
  const orrery = useOrrery();
  return useQuery<Answer>({
    queryKey,
    queryFn: ({ signal }) => read(orrery, signal),
    ...(options as object),
  });
}

declare const client: Orrery;
type GetPath = Parameters<Orrery['get']>[0];
type GetInit<P extends GetPath> = Parameters<typeof client.get<P>>[1];
type DataOf<P extends GetPath> = ReturnType<typeof client.get<P>> extends Promise<infer D> ? D : never;
type Envelope<P extends GetPath> = Awaited<ReturnType<typeof client.answer<'get', P>>>;

/** What the API answers at an address. */
export function useGet<P extends GetPath>(
  path: P,
  init?: GetInit<P>,
  options?: ReadOptions,
): UseQueryResult<DataOf<P>> {
  const client = useQueryClient();
  const read = async (orrery: Orrery, signal: AbortSignal) => {
    const { data, etag } = await orrery.answer('get', path, ...([{ ...init, signal }] as never));
    const { path: params } = (init ?? {}) as { path?: Params };
    if (etag !== undefined) client.setQueryData(tagKeyOf(path, params), etag);
    return data as DataOf<P>;
  };
  return useRead(keyOfRead(path, init as Asked), read, options);
}

const TAGS = 'etag';
/** Under which the `ETag` of what is at an address is kept. */
export const tagKeyOf = (path: string, params?: Params): QueryKey => [TAGS, ...keyOf(path, params)];

/**
 * The cache of what the API said. Nothing observes a tag, so it would be dropped minutes after it was first kept, and a form
 * that is opened then would replace what others have saved.
 */
export function createCache(config: QueryClientConfig): QueryClient {
  const client = new QueryClient({
    ...config,
    // The SDK repeats what may be repeated.
    defaultOptions: {
      queries: { retry: false, staleTime: 5000, gcTime: 5 * 60_000, refetchOnWindowFocus: true },
    },
  });
  client.setQueryDefaults([TAGS], { gcTime: Number.POSITIVE_INFINITY });
  return client;
}

/** A page of a list, of 50 items. A filter that is undefined is none. */
export function usePage<P extends ListPath>(
  path: P,
  params: Params,
  query: { readonly page: number; readonly [filter: string]: unknown },
  options?: ReadOptions,
): UseQueryResult<Envelope<P>> {
  const init = { path: params, query: { ...query, limit: 50 } };
  return useRead(
    keyOfRead(path, init),
    (orrery, signal) => orrery.answer('get', path, ...([{ ...init, signal }] as never)),
    { ...PAGED, ...options },
  );
}

/** All items of a list that the API keeps short, as one page. */
export const useList = <P extends ListPath>(path: P, params: Params = {}, options?: ReadOptions) =>
  useRead(
    [...keyOf(path, params), { page: 'all' }],
    (orrery, signal) => readAll(orrery, path, ...([{ path: params, signal }] as never)),
    options,
  );

type Asked = { path?: Params; query?: object } | undefined;

const keyOfRead = (path: string, init: Asked): QueryKey => [...keyOf(path, init?.path), init?.query ?? {}];

/** The API bounds such lists: events and schemas of a world by 500, versions of an event by 1,000. */
const MOST_ITEMS = 1000;

export async function readAll<P extends ListPath>(
  orrery: Orrery,
  path: P,
  ...init: ListArgument<P>
): Promise<Page<ItemOf<P>>> {
  const data: ItemOf<P>[] = [];
  let total = 0;
  for await (const page of orrery.pages(path, ...init)) {
    data.push(...page.data);
    total = page.pagination.total ?? data.length;
    if (data.length >= MOST_ITEMS) break;
  }
  return { data, pagination: { page: 1, limit: MOST_ITEMS, total, totalPages: 1 } };
}
