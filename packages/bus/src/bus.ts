import type { Clock, Logger } from '@orrery/service-kit';
import { createCall, createServe } from './calls/call-and-serve.js';
import { createSignals } from './calls/signals.js';
import { createConsume, createListen } from './messages/consume.js';
import { createBroadcast, createPublishAll, publishOne } from './messages/publish.js';
import type { Bus } from './ports/bus-port.js';
import type { Transport } from './ports/transport.js';

export interface BusDependencies {
  readonly service: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The typed bus over any transport: it adds contracts, JSON, headers and errors. */
export function createBus(transport: Transport, { service, clock, logger }: BusDependencies): Bus {
  const { exchange, facts } = transport;
  const signals = createSignals(service);
  const publishAll = createPublishAll(facts);
  let closed: Promise<void> | undefined;
  return {
    serve: createServe({ exchange, clock, logger, signals }),
    call: createCall({ exchange, clock, signals }),
    publish: publishOne(publishAll),
    publishAll,
    consume: createConsume(facts, clock, logger),
    broadcast: createBroadcast(exchange),
    listen: createListen(exchange, logger),
    health: async () => transport.health(),
    close: () => {
      closed ??= transport.close();
      return closed;
    },
  };
}
