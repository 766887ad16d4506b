import type { Clock, Logger } from '@orrery/service-kit';
import { createCall } from './calls/call.js';
import { createServe } from './calls/serve.js';
import { createConsume } from './facts/consume.js';
import { createListen } from './facts/listen.js';
import { createBroadcast, createPublishAll, publishOne } from './facts/publish.js';
import type { Bus } from './port.js';
import { createSignals } from './signals.js';
import type { Transport } from './transport.js';

export interface BusDependencies {
  readonly service: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The typed bus over any transport: contracts, JSON, headers and errors are settled here, once. */
export function createBus(transport: Transport, { service, clock, logger }: BusDependencies): Bus {
  const { exchange, facts } = transport;
  const signals = createSignals(service);
  const publishAll = createPublishAll(facts);
  return {
    serve: createServe({ exchange, clock, logger, signals }),
    call: createCall({ exchange, clock, signals }),
    publish: publishOne(publishAll),
    publishAll,
    consume: createConsume(facts, clock, logger),
    broadcast: createBroadcast(exchange),
    listen: createListen(exchange, logger),
    health: async () => transport.health(),
    close: () => transport.close(),
  };
}
