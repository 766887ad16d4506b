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
/** Of a query, whose pages go by `next`. */
export interface CursorPagination {
  readonly limit: number;
  /** `cursor` of the next page; null: this is the last one. */
  readonly next: string | null;
  /** With `count: true`. */
  readonly total?: number;
}
export interface Page<Item, Pages = Pagination> {
  readonly data: readonly Item[];
  readonly pagination: Pages;
}
/** How the pages of a list are told apart. */
export type PaginationOf<P extends ListPath> = P extends `${string}/entity-instances`
  ? Pagination | CursorPagination
  : Pagination;

const LARGEST_PAGE = 100;

/**
 * The pages of a list, from `query.page` or, of a query, `query.cursor` on. What is deleted meanwhile moves later items forward: one of them may be
 * missed. The service refuses `page × limit` above 100,000 (`page_too_deep`).
 */
export async function* pagesOf<P extends ListPath>(
  { answer }: Requests,
  path: P,
  init?: ListArgument<P>[0],
): AsyncGenerator<Page<ItemOf<P>, PaginationOf<P>>, void, undefined> {
  const {
    page: first = 1,
    limit = LARGEST_PAGE,
    ...query
  } = (init as { query?: Paged } | undefined)?.query ?? {};
  const isQuery = ['where', 'orderBy', 'cursor', 'count'].some(
    (name) => (query as Record<string, unknown>)[name] !== undefined,
  );
  let which: object | undefined = isQuery ? {} : { page: first };
  for (let page = first; which !== undefined; page += 1) {
    const paged = { ...init, query: { ...query, limit, ...which } };
    const { body } = await (answer as Ask<P>)('get', path, paged);
    yield body;
    const isLast = body.data.length < limit || isLastOf(body.pagination, page);
    which = isQuery ? nextOf(body.pagination) : isLast ? undefined : { page: page + 1 };
  }
}

interface Paged {
  readonly page?: number;
  readonly limit?: number;
}

/** Asked for one page more, the service would refuse the one beyond 100,000 items. */
const isLastOf = (pagination: Pagination | CursorPagination, page: number): boolean =>
  'totalPages' in pagination && pagination.totalIsMinimum !== true && page >= pagination.totalPages;

const nextOf = (pagination: Pagination | CursorPagination): object | undefined =>
  'next' in pagination && pagination.next !== null ? { cursor: pagination.next } : undefined;

type Ask<P extends ListPath> = (
  method: 'get',
  path: string,
  init: object,
) => Promise<{ body: Page<ItemOf<P>, PaginationOf<P>> }>;
