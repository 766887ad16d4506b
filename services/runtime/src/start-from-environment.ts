import { connectBus } from '@orrery/bus';
import {
  databaseUrl,
  type Environment,
  natsUrl,
  type RunningService,
  readEnvironment,
  readTogether,
  type ServiceContext,
} from '@orrery/service-kit';
import { z } from 'zod';
import { readRuntimeConfig } from './config.js';
import { startRuntime } from './service.js';

const environment = z.object({ DATABASE_URL: databaseUrl, NATS_URL: natsUrl });

/** @throws EnvironmentError naming every variable that is wrong. */
export const readSettings = (env: Environment) =>
  readTogether({
    backends: () => readEnvironment(environment, env),
    config: () => readRuntimeConfig(env),
  });

/** This process alone: its bus connected, the service started. */
export async function startFromEnvironment(
  context: ServiceContext,
  { backends: { DATABASE_URL, NATS_URL }, config }: ReturnType<typeof readSettings>,
): Promise<RunningService> {
  const { logger, clock, health, resources } = context;
  const bus = await connectBus({ url: NATS_URL, service: 'runtime', logger, clock });
  resources.add('bus', () => bus.close());
  return startRuntime({ databaseUrl: DATABASE_URL, bus, logger, clock, health }, config);
}
