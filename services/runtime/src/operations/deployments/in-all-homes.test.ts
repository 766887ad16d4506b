import { expect, it } from 'vitest';
import { inAllHomes } from './in-all-homes.js';

const PAGE = { page: 1, limit: 2 };

it('lists again where one of the page was deleted before it was read, so that the page is full', async () => {
  let ids = [4, 6, 8];
  const answered: number[][] = [];
  const ofHome = async ({ most, ids: wanted }: { most: number; ids: number[] | null }) => {
    const found = wanted === null ? ids.slice(0, most) : wanted.filter((id) => ids.includes(id));
    answered.push(found);
    // Deleted between the two calls.
    if (answered.length === 1) ids = [4, 8];
    return {
      ids: wanted === null ? found : [],
      records: found.map((id) => ({ id })),
      total: ids.length,
      away: [],
    };
  };
  const context = {
    bus: { call: async () => ({ data: { id: 1 } }) },
    homes: { id: 'a', all: () => ['a'], partitionsOf: () => [4, 6, 8], read: async () => undefined },
    clock: { monotonic: () => 0, sleep: async () => undefined },
  };
  const { 'deployments.list': list } = inAllHomes(context as never, { 'homes.deployments': ofHome } as never);
  const request = { params: { worldAddress: 'w' }, query: PAGE };
  const call = { caller: { kind: 'anonymous' }, deadline: 1000, signal: new AbortController().signal };
  const { data, pagination } = await list(request as never, call as never);
  expect(data.map(({ id }) => id)).toEqual([4, 8]);
  expect(pagination).toEqual({ ...PAGE, total: 2, totalPages: 1 });
  expect(answered).toEqual([[4, 6], [4], [4, 8], [4, 8]]);
});
