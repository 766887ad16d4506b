import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { findRunningPostgres, startEmbeddedPostgres } from '@orrery/embedded-postgres';
import {
  createLogger,
  databaseUrl,
  type Logger,
  Resources,
  readEnvironment,
  StartupError,
} from '@orrery/service-kit';
import { z } from 'zod';
import type { CommandContext } from '../terminal/context.js';

interface OpenOptions {
  databaseUrl: string;
  logger: Logger;
  maxConnections: number;
}
type Opened<Db> = { readonly db: Db } & AsyncDisposable;

/** Opens a service's database for one command: at DATABASE_URL, else the embedded one, running or not. */
export async function withDatabase<Db>(
  env: CommandContext['env'],
  open: (options: OpenOptions) => Promise<Opened<Db>>,
  work: (db: Db) => Promise<void>,
): Promise<void> {
  await using resources = new Resources();
  const url = databaseIn(env) ?? (await embeddedUrl(env.ORRERY_DATA_DIR || '.orrery', resources));
  const opening = open({ databaseUrl: url, logger: commandLogger(), maxConnections: 1 });
  await work(resources.use('database', await opening).db);
}

/** The address in a variable. @throws StartupError where it is no address of a database */
export const databaseIn = (env: CommandContext['env'], variable = 'DATABASE_URL'): string | undefined =>
  readEnvironment(z.object({ [variable]: databaseUrl.optional() }), env)[variable];

/** What the services' code warns of, for a person. */
export const commandLogger = (): Logger =>
  createLogger({ service: 'orrery', level: 'warn', format: 'text', destination: process.stderr });

async function embeddedUrl(dataDirectory: string, resources: Resources): Promise<string> {
  const cluster = join(dataDirectory, 'postgres');
  const running = await findRunningPostgres(cluster);
  if (running !== undefined) return running;
  await access(cluster).catch((cause) => Promise.reject(noDatabase(dataDirectory, cause)));
  return resources.use('postgres', await startEmbeddedPostgres({ dataDirectory: cluster })).url;
}

/** Commands never create a database: it would be empty. */
const noDatabase = (dataDirectory: string, cause: unknown): StartupError =>
  new StartupError(
    `There is no database in ${resolve(dataDirectory)}: run this where Orrery was started, or set ORRERY_DATA_DIR or DATABASE_URL.`,
    { cause },
  );
