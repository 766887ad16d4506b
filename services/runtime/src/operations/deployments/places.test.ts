import { createLogger } from '@orrery/service-kit';
import { FakeClock } from '@orrery/testing';
import { expect, it, vi } from 'vitest';
import { databaseThat } from '../../store/tables/database-double.test-support.js';
import type { DirectorySchema } from '../../store/tables/directory.js';
import { startComparingPlaces } from './places.js';

const PAGE = 5000;
const logger = createLogger({ service: 'test', level: 'fatal' });

it.each([
  ['a page of places in 5 s, and everything else once a pass, which begins once a minute', true],
  ['page after page until all have been compared once, and begins again soon', false],
])('compares %s', async (_, isCompared) => {
  const clock = new FakeClock();
  const pages: number[] = [];
  let copies = 0;
  const db = databaseThat((statement, [after = 0]) => {
    if (statement.includes('from ai_usage')) copies += 1;
    if (!statement.includes('from deployments')) return [];
    if (statement.includes('unnest')) return [];
    pages.push(Number(after));
    const rows = { length: pages.length % 3 === 0 ? 1 : PAGE };
    return Array.from(rows, (_, at) => ({
      id: Number(after) + at + 1,
      address: '',
      account: 1,
      deleted: false,
    }));
  });
  const homes = {
    ...{ isOnly: () => false, isCompared: () => isCompared, id: 'first', partitionsOf: () => [0] },
    directory: databaseThat<DirectorySchema>(() => []),
  };
  const comparing = startComparingPlaces({ db, homes: homes as never, clock, logger });
  if (!isCompared) {
    // Without time.
    await vi.waitFor(() => expect([pages, copies]).toEqual([[0, PAGE, 2 * PAGE], 1]));
    await clock.advance(5000);
    await vi.waitFor(() => expect([pages.slice(3), copies]).toEqual([[0, PAGE, 2 * PAGE], 2]));
    return comparing.stop();
  }
  await clock.advance(10_000);
  expect([pages, copies]).toEqual([[0, PAGE, 2 * PAGE], 1]);
  await clock.advance(49_000);
  expect([pages.length, copies]).toEqual([3, 1]);
  await clock.advance(5000);
  expect([pages.slice(3), copies]).toEqual([[0], 2]);
  return comparing.stop();
});

it('goes on where payments and costs of models cannot be copied', async () => {
  const clock = new FakeClock();
  const db = databaseThat((statement) => {
    if (statement.includes('from ai_usage')) throw new Error('statement timeout');
    return [];
  });
  const done: string[] = [];
  const directory = databaseThat<DirectorySchema>((statement) => {
    done.push(statement.trim().split(/\s+/).slice(0, 3).join(' '));
    return statement.includes('now()') ? [{ now: new Date(0) }] : [];
  });
  const homes = {
    ...{ isOnly: () => false, isCompared: () => false, id: 'first', partitionsOf: () => [0], directory },
  };
  const comparing = startComparingPlaces({ db, homes: homes as never, clock, logger });
  await vi.waitFor(() => expect(done.at(-1)).toBe('update databases set'));
  expect(done).toContain('delete from payments');
  expect(done).toContain('delete from creations');
  return comparing.stop();
});
