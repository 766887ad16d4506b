import { join } from 'node:path';
import { startEmbeddedPostgres } from '@orrery/embedded-postgres';
import type { RunningService, ServiceContext } from '@orrery/service-kit';
import type { StandaloneSettings } from './config.js';
import { openDataDirectory } from './data-directory.js';
import { withFullDisk } from './full-disk.js';
import { holdDatabase } from './hold-database.js';
import { openGateway } from './open-gateway.js';

/** Opens the data directory and its database, then starts all services. @throws StartupError */
export const startStandalone = (
  context: ServiceContext,
  settings: StandaloneSettings,
): Promise<RunningService> =>
  startAll(context, settings).catch((error: unknown) =>
    Promise.reject(withFullDisk(error, settings.dataDirectory)),
  );

/** The services' code is loaded while PostgreSQL starts, since both take about as long. */
async function startAll(context: ServiceContext, settings: StandaloneSettings): Promise<RunningService> {
  await openDataDirectory(settings.dataDirectory);
  const gateway = openGateway(context, settings.gateway);
  context.resources.use('gateway thread', gateway, gateway.stopTimeoutMs);
  const [databaseUrl, { startServices }] = await Promise.all([
    settings.databaseUrl === undefined
      ? embeddedDatabase(context, settings)
      : givenDatabase(context, settings, settings.databaseUrl),
    import('./start-services.js'),
  ]);
  const ownsDatabase = settings.databaseUrl === undefined;
  return startServices(context, { ...settings, databaseUrl, ownsDatabase, gateway });
}

/** Processes that share a database work together over NATS. */
async function givenDatabase(
  context: ServiceContext,
  { natsUrl }: StandaloneSettings,
  databaseUrl: string,
): Promise<string> {
  if (natsUrl === undefined) await holdDatabase(context, { databaseUrl });
  return databaseUrl;
}

async function embeddedDatabase(
  { resources, signal, logger, fail }: ServiceContext,
  { dataDirectory }: StandaloneSettings,
): Promise<string> {
  const supervision = { logger, onLost: fail };
  const options = { dataDirectory: join(dataDirectory, 'postgres'), signal, supervision };
  return resources.use('postgres', await startEmbeddedPostgres(options)).url;
}
