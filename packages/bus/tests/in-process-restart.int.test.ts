import { createTestDatabase, FakeClock, type TestDatabase } from '@orrery/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Bus, connectBus, createInProcessHub } from '../src/index.js';
import { collect } from './collected.js';
import { logLines } from './harness.js';
import { lapRun } from './specimens.js';

describe('the in-process bus across restarts', () => {
  const { logger } = logLines();
  const clock = new FakeClock();
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  /** One life of the process. */
  const during = async (work: (bus: Bus, signal: AbortSignal) => Promise<unknown>) => {
    const stop = new AbortController();
    const hub = await createInProcessHub({ databaseUrl: database.url, logger, clock });
    const bus = await connectBus({ url: 'inprocess', hub, service: 'test', logger, clock });
    await work(bus, stop.signal);
    stop.abort();
    await bus.close();
    await hub[Symbol.asyncDispose]();
  };

  it('keeps messages, the order within a key, and what is to be tried again', async () => {
    const seen = collect<string>();
    const consume = (bus: Bus, signal: AbortSignal, refuses: boolean) =>
      bus.consume(lapRun, {
        consumer: 'stable',
        handle: async ({ number }) => {
          seen.add(`${number} ${refuses}`);
          if (refuses) throw new Error('stumbled');
        },
        signal,
      });
    await during(async (bus) => {
      for (const number of [1, 2]) {
        await bus.publish(lapRun, { horse: 'a', number }, { id: `${number}`, orderingKey: 'a' });
      }
    });
    await during(async (bus, signal) => {
      await consume(bus, signal, true);
      await seen.atLeast(2);
    });
    await during(async (bus, signal) => {
      await bus.publish(lapRun, { horse: 'a', number: 2 }, { id: '2', orderingKey: 'a' });
      await consume(bus, signal, false);
      await vi.waitFor(async () => {
        await clock.advance(10_000);
        expect(seen.items).toHaveLength(4);
      });
    });
    expect(seen.items.slice(0, 2)).toEqual(['1 true', '2 true']);
    expect(seen.items.slice(2).sort()).toEqual(['1 false', '2 false']);
  });
});
