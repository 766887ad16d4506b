import { expect, it } from 'vitest';
import { allPages } from './ask-server.js';

it('all pages are asked for, also beyond the 10,000 items that the service counts', async () => {
  const asked: (string | undefined)[] = [];
  const counted = { limit: 2, totalPages: 2, total: 4, totalIsMinimum: true as const };
  const { data } = await allPages(async ({ page = '1' }) => {
    asked.push(page);
    return {
      data: page === '4' ? ['last'] : ['a', 'b'],
      pagination: { page: Number(page), ...counted },
    };
  });
  expect(asked).toEqual(['1', '2', '3', '4']);
  expect(data).toEqual(['a', 'b', 'a', 'b', 'a', 'b', 'last']);
});
