import type { ItemOf, ListArgument, ListPath, Orrery, Page } from '@orrery/sdk';

/** One page of a list; of `limit` 100, unless the query says otherwise. */
export async function readPage<P extends ListPath>(
  orrery: Orrery,
  path: P,
  ...init: ListArgument<P>
): Promise<Page<ItemOf<P>>> {
  const { value } = await orrery.pages(path, ...init).next();
  return value ?? { data: [], pagination: { page: 1, limit: 100, total: 0, totalPages: 0 } };
}
