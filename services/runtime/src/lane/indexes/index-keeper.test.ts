import { ServiceError } from '@orrery/contracts';
import type { Logger } from '@orrery/service-kit';
import { FakeClock } from '@orrery/testing';
import { expect, it, vi } from 'vitest';
import { databaseThat } from '../../store/tables/database-double.test-support.js';
import { startIndexKeeper } from './index-keeper.js';

it.each([
  ['the catalog is away', new ServiceError('unavailable'), 'info'],
  ['comparing takes too long', new Error('canceling statement due to statement timeout'), 'warn'],
])(
  'says so where %s, goes on with what is unfinished, and compares in the next round',
  async (_why, error, level) => {
    const clock = new FakeClock();
    const said = vi.fn();
    let unfinished = 0;
    const db = databaseThat(() => {
      unfinished += 1;
    });
    const declaredIndexes = vi.fn(async () => {
      throw error;
    });
    const keeper = startIndexKeeper({
      ...{ db, clock, logger: { [level]: said } as unknown as Logger },
      held: { all: () => [{ partition: 1, epoch: 1 }] },
      catalog: { declaredIndexes },
      journalForm: { keepsIndexes: true },
    } as never);
    await clock.advance(5000);
    expect([declaredIndexes.mock.calls.length, unfinished, said.mock.calls.length]).toEqual([2, 2, 2]);
    await keeper.stop();
  },
);
