import { join } from 'node:path';
import { startCatalog } from '@orrery/catalog';
import { startChainPusher } from '@orrery/chain-pusher';
import { startGateway } from '@orrery/gateway';
import { startRuntime } from '@orrery/runtime';
import { startScheduler } from '@orrery/scheduler';
import type { RunningService, ServiceContext } from '@orrery/service-kit';
import type { StandaloneSettings } from './config.js';
import { firstKey } from './first-key.js';
import { openBuses } from './open-buses.js';
import { welcome } from './welcome.js';

export interface ServicesSettings extends StandaloneSettings {
  readonly databaseUrl: string;
}

/** All five services in this process. The order is that of need: the door opens when all others answer. */
export async function startServices(
  context: ServiceContext,
  settings: ServicesSettings,
): Promise<RunningService> {
  const { logger, clock, health, resources } = context;
  const { databaseUrl, natsUrl, dataDirectory } = settings;
  const busFor = await openBuses(context, { databaseUrl, natsUrl });
  const dependencies = async (service: string) => ({
    databaseUrl,
    clock,
    logger,
    health,
    bus: await busFor(service),
  });
  resources.use('catalog', await startCatalog(await dependencies('catalog'), settings.catalog));
  resources.use('runtime', await startRuntime(await dependencies('runtime'), settings.runtime));
  resources.use('scheduler', await startScheduler(await dependencies('scheduler')));
  resources.use('chain-pusher', await startChainPusher(await dependencies('chain-pusher')));
  const gateway = resources.use(
    'gateway',
    await startGateway(await dependencies('gateway'), settings.gateway),
  );
  const key = await firstKey({ db: gateway.db, file: join(dataDirectory, 'api-key') });
  settings.write(welcome({ url: gateway.url, key, dataDirectory }));
  return { [Symbol.asyncDispose]: async () => undefined };
}
