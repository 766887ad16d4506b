import { MessageChannel } from 'node:worker_threads';
import { systemClock } from '@orrery/service-kit';
import { createTestDatabase } from '@orrery/testing';
import { describe } from 'vitest';
import { connectBus, createInProcessHub, lendHub } from '../src/index.js';
import { busContract } from './bus.contract.js';
import { type BusWorld, logLines } from './harness.js';

async function openWorld(): Promise<BusWorld> {
  const { lines, logger } = logLines();
  const database = await createTestDatabase();
  const hub = await createInProcessHub({ databaseUrl: database.url, logger, clock: systemClock });
  return {
    log: lines,
    manyProcesses: false,
    join: (service = 'test') => {
      const { port1, port2: port } = new MessageChannel();
      lendHub(hub, port1, logger);
      return connectBus({ url: undefined, port, service, logger, clock: systemClock });
    },
    [Symbol.asyncDispose]: async () => {
      await hub[Symbol.asyncDispose]();
      await database.drop();
    },
  };
}

describe('the bus of a hub in another thread', () => busContract(openWorld));
