import { type Logger, systemClock } from '@orrery/service-kit';
import { type ConnectBusOptions, connectBus, createInProcessHub, type InProcessHub } from '../src/index.js';
import { type BusWorld, logLines } from './harness.js';

/** How a member finds the hub. */
type WayToHub = (hub: InProcessHub, logger: Logger) => Pick<ConnectBusOptions, 'hub' | 'port'>;

/** One process: a hub, and members that find it in this way. */
export async function openHubWorld(wayTo: WayToHub): Promise<BusWorld> {
  const { lines, logger } = logLines();
  const hub = createInProcessHub({ logger, clock: systemClock });
  const common = { url: 'inprocess', logger, clock: systemClock };
  return {
    log: lines,
    manyProcesses: false,
    join: (service = 'test') => connectBus({ ...common, ...wayTo(hub, logger), service }),
    joinConsumer: () => connectBus({ ...common, hub, service: 'test' }),
    [Symbol.asyncDispose]: async () => undefined,
  };
}
