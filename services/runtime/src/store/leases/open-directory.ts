import { connect, type Database, migrate } from '@orrery/database';
import type { Clock, Logger } from '@orrery/service-kit';
import { type DirectorySchema, directoryMigrations } from '../tables/directory.js';

interface OpenDirectoryOptions {
  readonly databaseUrl: string;
  /** Where the directory is; `undefined`: in the database itself. */
  readonly directoryUrl: string | undefined;
  readonly applicationName: string;
  readonly logger: Logger;
  readonly clock?: Clock;
}

/** It is asked when leases are taken, and every few seconds where it is elsewhere. */
const CONNECTIONS = 2;

/** Opens the directory and brings its schema up to date. @throws StartupError that says what to do */
export async function openDirectory({
  databaseUrl,
  directoryUrl,
  ...rest
}: OpenDirectoryOptions): Promise<Database<DirectorySchema>> {
  const where =
    directoryUrl === undefined
      ? { url: databaseUrl }
      : { url: directoryUrl, urlVariable: 'RUNTIME_DIRECTORY_URL' };
  const directory = await connect<DirectorySchema>({
    ...rest,
    ...where,
    schema: 'directory',
    maxConnections: CONNECTIONS,
  });
  try {
    await migrate({ database: directory, migrations: directoryMigrations, logger: rest.logger });
    return directory;
  } catch (error) {
    await directory.close();
    throw error;
  }
}
