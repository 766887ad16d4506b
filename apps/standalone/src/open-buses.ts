import type { MessagePort } from 'node:worker_threads';
import { type Bus, connectBus, createInProcessHub, lendHub } from '@orrery/bus';
import type { ServiceContext } from '@orrery/service-kit';

interface BusSettings {
  readonly databaseUrl: string;
  readonly natsUrl: string | undefined;
  /** Leads to the gateway's thread, which connects to NATS by itself if there is an address. */
  readonly gatewayPort: MessagePort;
}

/** Opens a bus for each service: over NATS if there is an address, else on one hub in this process. */
export async function openBuses(
  { logger, clock, resources }: ServiceContext,
  { databaseUrl, natsUrl: url, gatewayPort }: BusSettings,
): Promise<(service: string) => Promise<Bus>> {
  const hub =
    url === undefined
      ? resources.use('bus hub', await createInProcessHub({ databaseUrl, logger, clock }))
      : undefined;
  if (hub === undefined) gatewayPort.close();
  else lendHub(hub, gatewayPort, logger);
  return async (service) => {
    const bus = await connectBus({ url, service, logger, clock, ...(hub && { hub }) });
    resources.add(`${service} bus`, () => bus.close());
    return bus;
  };
}
