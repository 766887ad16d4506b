import type { ArgumentsOf, DataOf, OperationOf, PathOf, RequestOptions } from './operation-types.js';
import type { Requests } from './requests.js';

/** The paths whose GET answers a list in pages. */
export type ListPath = {
  [P in PathOf<'get'>]: DataOf<OperationOf<'get', P>> extends readonly unknown[]
    ? OperationOf<'get', P> extends { parameters: { query?: { page?: unknown } } }
      ? P
      : never
    : never;
}[PathOf<'get'>];
export type ItemOf<P extends ListPath> =
  DataOf<OperationOf<'get', P>> extends readonly (infer I)[] ? I : never;

type Arguments<P extends ListPath> = ArgumentsOf<OperationOf<'get', P>> & Pick<RequestOptions, 'signal'>;
export type ListArgument<P extends ListPath> =
  object extends Arguments<P> ? [init?: Arguments<P>] : [init: Arguments<P>];

export interface Pagination {
  readonly page: number;
  readonly limit: number;
  readonly total: number;
  readonly totalPages: number;
  /** There are more than `total`. */
  readonly totalIsMinimum?: true;
}
export interface Page<Item> {
  readonly data: readonly Item[];
  readonly pagination: Pagination;
}

const LARGEST_PAGE = 100;

/**
 * The pages of a list, from `query.page` on. What is deleted meanwhile moves later items forward: one of them may be
 * missed. The service refuses `page × limit` above 100,000 (`page_too_deep`).
 */
export async function* pagesOf<P extends ListPath>(
  { answer }: Requests,
  path: P,
  init?: ListArgument<P>[0],
): AsyncGenerator<Page<ItemOf<P>>, void, undefined> {
  const query = (init as { query?: { page?: number; limit?: number } } | undefined)?.query;
  const { page: first = 1, limit = LARGEST_PAGE } = query ?? {};
  for (let page = first; ; page += 1) {
    const paged = { ...init, query: { ...query, page, limit } };
    const { body } = await (answer as Ask<ItemOf<P>>)('get', path, paged);
    yield body;
    if (body.data.length < limit) return;
  }
}

type Ask<Item> = (method: 'get', path: string, init: object) => Promise<{ body: Page<Item> }>;
