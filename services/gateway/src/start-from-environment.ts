import { connectBus } from '@orrery/bus';
import {
  databaseUrl,
  natsUrl,
  type RunningService,
  readEnvironment,
  redisUrl,
  type ServiceContext,
} from '@orrery/service-kit';
import { z } from 'zod';
import { readGatewayConfig } from './config.js';
import { startGateway } from './service.js';

const environment = z.object({
  DATABASE_URL: databaseUrl,
  NATS_URL: natsUrl,
  REDIS_URL: redisUrl.optional(),
});

/** This process alone: its variables read, its bus connected, the service started. */
export async function startFromEnvironment(context: ServiceContext): Promise<RunningService> {
  const config = readGatewayConfig(context.env);
  const { DATABASE_URL, NATS_URL, REDIS_URL } = readEnvironment(environment, context.env);
  const { logger, clock, health, resources } = context;
  const bus = await connectBus({ url: NATS_URL, service: 'gateway', logger, clock });
  resources.add('bus', () => bus.close());
  const dependencies = { databaseUrl: DATABASE_URL, redisUrl: REDIS_URL, bus, logger, clock, health };
  const gateway = await startGateway(dependencies, config);
  logger.info({ url: gateway.url }, 'listening');
  return gateway;
}
