import { connectBus, natsEnvironment, natsSettings } from '@orrery/bus';
import {
  databaseUrl,
  type Environment,
  natsUrl,
  type RunningService,
  readEnvironment,
  readTogether,
  runService,
} from '@orrery/service-kit';
import { z } from 'zod';
import type { ServiceDependencies } from './service-dependencies.js';

export interface ServiceProcess<Config> {
  readonly name: string;
  readonly env: Environment;
  /** The service's own variables; their problems are reported together with those of the backends. */
  readonly readConfig: (env: Environment) => Config;
  readonly start: (dependencies: ServiceDependencies, config: Config) => Promise<RunningService>;
  readonly defaultHealthPort: number;
}

const environment = z.object({
  DATABASE_URL: databaseUrl,
  NATS_URL: natsUrl,
  ...natsEnvironment,
});

/** One service as a process of its own, on PostgreSQL and NATS: its `main.ts` is this one call. */
export function runServiceProcess<Config>({
  readConfig,
  start,
  ...process
}: ServiceProcess<Config>): Promise<void> {
  return runService({
    ...process,
    settings: (env) =>
      readTogether({ backends: () => readEnvironment(environment, env), config: () => readConfig(env) }),
    start: async ({ logger, clock, health, resources, signal }, { backends: read, config }) => {
      const { DATABASE_URL, NATS_URL: url } = read;
      const { name: service } = process;
      const bus = await connectBus({ url, ...natsSettings(read), service, logger, clock, signal });
      resources.add('bus', () => bus.close());
      return start({ databaseUrl: DATABASE_URL, bus, logger, clock, health }, config);
    },
  });
}
