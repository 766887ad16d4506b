import { createOrrery } from '@orrery/sdk';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createCache, readAll, tagKeyOf } from './read.js';

/** Answers pages of a list of so many items; says which were asked for. */
function served(total: number) {
  const asked: string[] = [];
  const answer = async (request: Request) => {
    const { searchParams } = new URL(request.url);
    const [page, limit] = ['page', 'limit'].map((name) => Number(searchParams.get(name))) as [number, number];
    asked.push(`${page}`);
    const first = (page - 1) * limit;
    const data = Array.from({ length: Math.max(0, Math.min(limit, total - first)) }, (_, n) => ({
      id: first + n,
    }));
    const pagination = { page, limit, total, totalPages: Math.ceil(total / limit) };
    return Response.json({ success: true, data, pagination });
  };
  return {
    orrery: createOrrery({ url: 'http://orrery.test', token: 'x', fetch: answer as typeof fetch }),
    asked,
  };
}

it('reads a list beyond its first page', async () => {
  const { orrery, asked } = served(250);
  const { data, pagination } = await readAll(orrery, '/api/worlds/{worldAddress}/events', {
    path: { worldAddress: '1' },
  });
  expect(data.map(({ id }) => id)).toEqual(Array.from({ length: 250 }, (_, n) => n));
  expect(pagination).toMatchObject({ total: 250, totalPages: 1 });
  expect(asked).toEqual(['1', '2', '3']);
});

it('ends where a list is longer than any that it is meant for', async () => {
  const { orrery, asked } = served(5000);
  expect((await readAll(orrery, '/api/keys')).data).toHaveLength(1000);
  expect(asked).toHaveLength(10);
});

it('keeps the tag of what was read as long as the page is open', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const cache = createCache({});
  const tag = tagKeyOf('/api/worlds/{worldAddress}', { worldAddress: '0x1' });
  cache.setQueryData(tag, '7');
  cache.setQueryData(['worlds', '0x1', {}], 'a world that nothing shows');
  vi.advanceTimersByTime(60 * 60 * 1000);
  expect(cache.getQueryData(tag)).toBe('7');
  expect(cache.getQueryData(['worlds', '0x1', {}])).toBeUndefined();
});
