import type { MessagePort } from 'node:worker_threads';
import { StartupError } from '@orrery/service-kit';
import { type BusDependencies, createCall, createCallForText, createServe } from './calls/call-and-serve.js';
import { type InProcessHub, joinHub } from './in-process/hub.js';
import {
  createBroadcast,
  createConsume,
  createListen,
  createPublishAll,
  publishOne,
} from './messages/messages.js';
import type { NatsOptions } from './nats/nats-transport.js';
import type { Bus } from './ports/bus-port.js';
import type { Transport } from './ports/transport.js';
import { joinThread } from './thread/thread-transport.js';

/** The typed bus over any transport: it adds contracts, JSON, headers and errors. */
export function createBus(transport: Transport, dependencies: BusDependencies): Bus {
  const { exchange, facts } = transport;
  const { logger } = dependencies;
  const publishAll = createPublishAll(facts);
  let closed: Promise<void> | undefined;
  return {
    serve: createServe(exchange, dependencies),
    call: createCall(exchange, dependencies),
    callForText: createCallForText(exchange, dependencies),
    publish: publishOne(publishAll),
    publishAll,
    consume: createConsume(facts, logger),
    broadcast: createBroadcast(exchange),
    listen: createListen(exchange, logger),
    health: async () => transport.health(),
    close: () => {
      closed ??= transport.close();
      return closed;
    },
  };
}

export interface ConnectBusOptions extends Omit<NatsOptions, 'url'> {
  /** `nats://…` (several separated by commas), or `inprocess` or nothing for the given hub. */
  readonly url: string | undefined;
  /** The bus that the services of this process share. Without NATS, `hub` or `port` is needed. */
  readonly hub?: InProcessHub | undefined;
  /** The way to a hub in another thread of this process (`lendHub`). */
  readonly port?: MessagePort | undefined;
}

/** @throws StartupError when NATS cannot be used, or there is neither a NATS address nor a hub. */
export async function connectBus({
  url = 'inprocess',
  hub,
  port,
  ...options
}: ConnectBusOptions): Promise<Bus> {
  if (url !== 'inprocess') {
    // Loaded on use: a start without NATS need not wait for its client.
    const { connectNats } = await import('./nats/nats-transport.js');
    return createBus(await connectNats({ url, ...options }), options);
  }
  if (port !== undefined) return createBus(joinThread(port, options.logger), options);
  if (hub === undefined)
    throw new StartupError('There is no message bus: set NATS_URL, or start all services in one process.');
  return createBus(joinHub(hub), options);
}
