import { createLogger } from '@orrery/service-kit';
import { FakeClock } from '@orrery/testing';
import { expect, it, vi } from 'vitest';
import { databaseThat } from '../../store/tables/database-double.test-support.js';
import type { DirectorySchema } from '../../store/tables/directory.js';
import { followHomes } from './homes.js';

const ADDRESS = `0x${'ab'.repeat(20)}`;
const here = { id: 'first', instance: 'one', logger: createLogger({ service: 'test', level: 'fatal' }) };

function house(answer: Parameters<typeof databaseThat>[0]) {
  const clock = new FakeClock();
  const byAddress = vi.fn(async () => undefined);
  /** What is broadcast is heard by its sender too, unless the bus is away. */
  const reach = { isAway: false, tell: (_: object): void => undefined };
  const bus = {
    listen: async (_message: unknown, onHeard: typeof reach.tell) => {
      reach.tell = onHeard;
    },
    broadcast: async (_message: unknown, told: object) => void (reach.isAway || reach.tell(told)),
  } as never;
  const directory = databaseThat<DirectorySchema>(answer);
  const db = directory as never;
  const options = { ...here, clock, bus, db, directory, deployments: { byAddress } };
  const follow = () =>
    followHomes({ ...options, onSeveral: async () => undefined, signal: new AbortController().signal });
  return { clock, byAddress, follow, reach };
}

it('leaves no loop behind where the directory cannot be read at the start', async () => {
  const { clock, follow } = house(() => {
    throw new Error('away');
  });
  await expect(follow()).rejects.toThrow('away');
  await clock.advance(0);
  expect(clock.sleeping).toBe(0);
});

it('asks neither database again for a deployment whose place is known', async () => {
  let asked = 0;
  const { byAddress, follow } = house((statement) => {
    if (statement.includes('"databases"')) return [{ id: 'first' }, { id: 'second' }];
    if (statement.includes('"homes"')) return [{ partition: 7, database: 'second' }];
    asked += 1;
    return [{ deployment_id: 64 + 7 }];
  });
  const homes = await follow();
  for (let time = 0; time < 3; time += 1) expect(await homes.homeOf(ADDRESS)).toBe('second');
  expect([byAddress.mock.calls.length, asked]).toEqual([1, 1]);
  await homes.stop();
});

it('finds a deployment of another database while its own is away, and calls none absent then', async () => {
  let known = true;
  const { byAddress, follow } = house((statement) => {
    if (statement.includes('"databases"')) return [{ id: 'first' }, { id: 'second' }];
    if (statement.includes('"homes"')) return [{ partition: 7, database: 'second' }];
    return known ? [{ deployment_id: 64 + 7 }] : [];
  });
  const homes = await follow();
  byAddress.mockRejectedValue(new Error('away'));
  expect(await homes.homeOf(ADDRESS)).toBe('second');
  known = false;
  await expect(homes.homeOf(`0x${'cd'.repeat(20)}`)).rejects.toThrow('away');
  await homes.stop();
});

it('knows that a database is away once it has heard nobody of it for a while', async () => {
  const { clock, follow } = house((statement) =>
    statement.includes('"databases"') ? [{ id: 'first' }, { id: 'second' }] : [],
  );
  const homes = await follow();
  await clock.advance(5000);
  expect([homes.isAway('second'), homes.isServed('second')]).toEqual([false, false]);
  await clock.advance(1001);
  expect([homes.isAway('second'), homes.isAway('first')]).toEqual([true, false]);
  await homes.stop();
});

it('calls no database away because it has heard nobody while the bus was away', async () => {
  const { clock, follow, reach } = house((statement) =>
    statement.includes('"databases"') ? [{ id: 'first' }, { id: 'second' }] : [],
  );
  const homes = await follow();
  await clock.advance(8000);
  reach.tell({ instance: 'two', database: 'second' });
  reach.isAway = true;
  await clock.advance(10_000);
  expect(homes.isAway('second')).toBe(false);
  reach.isAway = false;
  await clock.advance(4000);
  expect(homes.isAway('second')).toBe(false);
  await clock.advance(4000);
  expect(homes.isAway('second')).toBe(true);
  await homes.stop();
});
