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
