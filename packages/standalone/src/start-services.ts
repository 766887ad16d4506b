import { join } from 'node:path';
import { startCatalog } from '@orrery/catalog';
import { startChainPusher } from '@orrery/chain-pusher';
import { startGateway } from '@orrery/gateway';
import { startRuntime } from '@orrery/runtime';
import { startScheduler } from '@orrery/scheduler';
import type { Resources, RunningService, ServiceContext } from '@orrery/service-kit';
import type { StandaloneSettings } from './config.js';
import { firstKey } from './first-key.js';
import { openBuses } from './open-buses.js';
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
  const dependencies = async (service: string) => ({
    databaseUrl,
    clock,
    logger,
    health,
    bus: await busFor(service),
  });
  await useAll(resources, {
    catalog: startCatalog(await dependencies('catalog'), settings.catalog),
    runtime: startRuntime(await dependencies('runtime'), settings.runtime),
    scheduler: startScheduler(await dependencies('scheduler')),
    'chain-pusher': startChainPusher(await dependencies('chain-pusher')),
  });
  const gateway = resources.use(
    'gateway',
    await startGateway(await dependencies('gateway'), settings.gateway),
  );
  const key = await firstKey({ db: gateway.db, file: join(dataDirectory, 'api-key') });
  settings.write(welcome({ url: gateway.url, key, dataDirectory }));
  return { [Symbol.asyncDispose]: async () => undefined };
}

/** Holds what has started, in the order of the names, also when another has not: that one's error is thrown then. */
async function useAll(
  resources: Resources,
  starting: Record<string, Promise<RunningService>>,
): Promise<void> {
  const outcomes = await Promise.allSettled(Object.values(starting));
  for (const [place, name] of Object.keys(starting).entries()) {
    const outcome = outcomes[place];
    if (outcome?.status === 'fulfilled') resources.use(name, outcome.value);
  }
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
