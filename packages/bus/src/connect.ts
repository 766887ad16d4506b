import type { MessagePort } from 'node:worker_threads';
import { type Clock, type Logger, StartupError } from '@orrery/service-kit';
import { createBus } from './bus.js';
import type { InProcessHub } from './in-process/hub.js';
import { joinHub } from './in-process/in-process-transport.js';
import type { StreamLimits } from './nats/stream.js';
import type { Bus } from './port.js';
import { joinThread } from './thread/thread-transport.js';

export interface ConnectBusOptions {
  /** `nats://…` (several separated by commas), or `inprocess` or nothing for the given hub. */
  readonly url: string | undefined;
  /** What the services of this process share; without NATS it is needed, or `port`. */
  readonly hub?: InProcessHub | undefined;
  /** Leads to the hub when another thread of this process has it (`lendHub`). */
  readonly port?: MessagePort | undefined;
  /** Who speaks: shown by the NATS server and in spans. */
  readonly service: string;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly stream?: StreamLimits;
}

/** @throws StartupError when NATS cannot be used, or there is neither an address nor a hub nor a way to one. */
export async function connectBus({
  url = 'inprocess',
  hub,
  port,
  ...options
}: ConnectBusOptions): Promise<Bus> {
  if (url !== 'inprocess') {
    // Loaded when it is used: without NATS a start need not wait for its client.
    const { connectNats } = await import('./nats/nats-transport.js');
    return createBus(await connectNats({ url, ...options }), options);
  }
  if (port !== undefined) return createBus(joinThread(port, options.logger), options);
  if (hub === undefined)
    throw new StartupError('There is no message bus: set NATS_URL, or start all services in one process.');
  return createBus(joinHub(hub), options);
}
