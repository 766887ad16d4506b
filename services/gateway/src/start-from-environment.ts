import { connectBus } from '@orrery/bus';
import {
  databaseUrl,
  type Environment,
  natsUrl,
  type RunningService,
  readEnvironment,
  readTogether,
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

/** @throws EnvironmentError naming every variable that is wrong. */
export const readSettings = (env: Environment) =>
  readTogether({
    backends: () => readEnvironment(environment, env),
    config: () => readGatewayConfig(env),
  });

/** This process alone: its bus connected, the service started. */
export async function startFromEnvironment(
  context: ServiceContext,
  { backends: { DATABASE_URL, NATS_URL, REDIS_URL }, config }: ReturnType<typeof readSettings>,
): Promise<RunningService> {
  const { logger, clock, health, resources } = context;
  const bus = await connectBus({ url: NATS_URL, service: 'gateway', logger, clock });
  resources.add('bus', () => bus.close());
  const dependencies = { databaseUrl: DATABASE_URL, redisUrl: REDIS_URL, bus, logger, clock, health };
  const gateway = await startGateway(dependencies, config);
  logger.info({ url: gateway.url }, 'listening');
  return gateway;
}
