import { ServiceError } from '@orrery/contracts';
import type { Logger } from '@orrery/service-kit';
import { FakeClock } from '@orrery/testing';
import { expect, it, vi } from 'vitest';
import { databaseThat } from '../../store/tables/database-double.test-support.js';
import { startIndexKeeper } from './index-keeper.js';

it('says so where the catalog is away, goes on with what is unfinished, and compares in the next round', async () => {
  const clock = new FakeClock();
  const info = vi.fn();
  let unfinished = 0;
  const db = databaseThat(() => {
    unfinished += 1;
  });
  const declaredIndexes = vi.fn(async () => {
    throw new ServiceError('unavailable');
  });
  const keeper = startIndexKeeper({
    ...{ db, clock, logger: { info } as unknown as Logger },
    held: { all: () => [{ partition: 1, epoch: 1 }] },
    catalog: { declaredIndexes },
    journalForm: { keepsIndexes: true },
  } as never);
  await clock.advance(5000);
  expect([declaredIndexes.mock.calls.length, unfinished, info.mock.calls.length]).toEqual([2, 2, 2]);
  await keeper.stop();
});
