import { systemClock } from '@orrery/service-kit';
import { describeWithNats } from '@orrery/testing';
import { connectBus } from '../src/index.js';
import { busContract } from './bus.contract.js';
import { type BusWorld, logLines } from './harness.js';

function openWorld(url: string): Promise<BusWorld> {
  const { lines, logger } = logLines();
  return Promise.resolve({
    log: lines,
    manyProcesses: true,
    join: (service = 'test') => connectBus({ url, service, logger, clock: systemClock }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
}

describeWithNats('the bus over NATS', (url) => busContract(() => openWorld(url)));
