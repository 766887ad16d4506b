import { connectBus } from '@orrery/bus';
import {
  databaseUrl,
  natsUrl,
  type RunningService,
  readEnvironment,
  type ServiceContext,
} from '@orrery/service-kit';
import { z } from 'zod';
import { readRuntimeConfig } from './config.js';
import { startRuntime } from './service.js';

const environment = z.object({ DATABASE_URL: databaseUrl, NATS_URL: natsUrl });

/** This process alone: its variables read, its bus connected, the service started. */
export async function startFromEnvironment(context: ServiceContext): Promise<RunningService> {
  const { DATABASE_URL, NATS_URL } = readEnvironment(environment, context.env);
  const config = readRuntimeConfig(context.env);
  const { logger, clock, health, resources } = context;
  const bus = await connectBus({ url: NATS_URL, service: 'runtime', logger, clock });
  resources.add('bus', () => bus.close());
  return startRuntime({ databaseUrl: DATABASE_URL, bus, logger, clock, health }, config);
}
