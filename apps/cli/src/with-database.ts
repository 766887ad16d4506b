import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { findRunningPostgres, startEmbeddedPostgres } from '@orrery/embedded-postgres';
import { findAccount, type GatewaySchema, openDatabase } from '@orrery/gateway/accounts';
import { createLogger, holding, type Logger, type Resources, StartupError } from '@orrery/service-kit';
import type { Kysely } from 'kysely';
import type { CommandContext } from './command-context.js';

interface OpenOptions {
  databaseUrl: string;
  logger: Logger;
  maxConnections: number;
}
type Opened<Schema> = { readonly db: Kysely<Schema> } & AsyncDisposable;

/** Opens the gateway's accounts for one command. */
export const withAccounts = (
  env: CommandContext['env'],
  work: (db: Kysely<GatewaySchema>) => Promise<void>,
): Promise<void> => withDatabase(env, openDatabase, work);

/** Opens a service's database for one command: at DATABASE_URL, else the embedded one, running or not. */
export async function withDatabase<Schema>(
  env: CommandContext['env'],
  open: (options: OpenOptions) => Promise<Opened<Schema>>,
  work: (db: Kysely<Schema>) => Promise<void>,
): Promise<void> {
  const logger = createLogger({
    service: 'orrery',
    level: 'warn',
    format: 'text',
    destination: process.stderr,
  });
  await using opened = await holding(async (resources) => {
    const databaseUrl = env.DATABASE_URL || (await embeddedUrl(env.ORRERY_DATA_DIR || '.orrery', resources));
    return {
      database: resources.use('database', await open({ databaseUrl, logger, maxConnections: 1 })),
    };
  });
  await work(opened.database.db);
}

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

/** @throws StartupError when there is no such account. */
export async function requireAccount(db: Kysely<GatewaySchema>, id: number): Promise<void> {
  if ((await findAccount(db, id)) === undefined)
    throw new StartupError(`There is no account ${id}. \`orrery accounts list\` shows those that exist.`);
}
