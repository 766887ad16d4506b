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
import { useAll } from './use-all.js';
import { welcome } from './welcome.js';

export interface ServicesSettings extends StandaloneSettings {
  readonly databaseUrl: string;
}

/** All five services in this process, side by side; the door opens when all others answer. */
export async function startServices(
  context: ServiceContext,
  settings: ServicesSettings,
): Promise<RunningService> {
  const { logger, clock, health, resources } = context;
  const { databaseUrl, natsUrl, dataDirectory } = settings;
  const busFor = await openBuses(context, { databaseUrl, natsUrl });
  const shared = { databaseUrl, clock, logger, health };
  // All buses first: while a service starts nothing else may fail, else nobody would hold it.
  const forCatalog = { ...shared, bus: await busFor('catalog') };
  const forRuntime = { ...shared, bus: await busFor('runtime') };
  const forScheduler = { ...shared, bus: await busFor('scheduler') };
  const forChainPusher = { ...shared, bus: await busFor('chain-pusher') };
  const forGateway = { ...shared, bus: await busFor('gateway') };
  await useAll(resources, {
    catalog: startCatalog(forCatalog, settings.catalog),
    runtime: startRuntime(forRuntime, settings.runtime),
    scheduler: startScheduler(forScheduler),
    'chain-pusher': startChainPusher(forChainPusher),
  });
  const gateway = resources.use('gateway', await startGateway(forGateway, settings.gateway));
  const key = await firstKey({ db: gateway.db, file: join(dataDirectory, 'api-key') });
  settings.write(welcome({ url: gateway.url, key, dataDirectory }));
  return { [Symbol.asyncDispose]: async () => undefined };
}
