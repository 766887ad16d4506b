import { connectBus } from '@orrery/bus';
import {
  databaseUrl,
  type Environment,
  natsUrl,
  type RunningService,
  readEnvironment,
  type ServiceContext,
} from '@orrery/service-kit';
import { z } from 'zod';
import { startChainPusher } from './service.js';

const environment = z.object({ DATABASE_URL: databaseUrl, NATS_URL: natsUrl });

/** @throws EnvironmentError naming every variable that is wrong. */
export const readSettings = (env: Environment) => readEnvironment(environment, env);

/** This process alone: its bus connected, the service started. */
export async function startFromEnvironment(
  context: ServiceContext,
  { DATABASE_URL, NATS_URL }: ReturnType<typeof readSettings>,
): Promise<RunningService> {
  const { logger, clock, health, resources } = context;
  const bus = await connectBus({ url: NATS_URL, service: 'chain-pusher', logger, clock });
  resources.add('bus', () => bus.close());
  return startChainPusher({ databaseUrl: DATABASE_URL, bus, logger, clock, health });
}
