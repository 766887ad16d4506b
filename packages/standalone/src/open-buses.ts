import { type Bus, connectBus, createInProcessHub } from '@orrery/bus';
import type { ServiceContext } from '@orrery/service-kit';

interface BusSettings {
  readonly databaseUrl: string;
  readonly natsUrl: string | undefined;
}

/** Gives each service a bus of its own: over NATS where there is an address, else on one hub in this process. */
export async function openBuses(
  { logger, clock, resources }: ServiceContext,
  { databaseUrl, natsUrl: url }: BusSettings,
): Promise<(service: string) => Promise<Bus>> {
  const hub =
    url === undefined
      ? resources.use('bus hub', await createInProcessHub({ databaseUrl, logger, clock }))
      : undefined;
  return async (service) => {
    const bus = await connectBus({ url, service, logger, clock, ...(hub && { hub }) });
    resources.add(`${service} bus`, () => bus.close());
    return bus;
  };
}
