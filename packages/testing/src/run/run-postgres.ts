import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { startEmbeddedPostgres, watchProcess } from '@orrery/embedded-postgres';
import type { Resources } from '@orrery/service-kit';
import { temporaryFolder } from '../servers/temporary-folder.js';

/** Test data need not survive a power cut. Two processes of each service may open 150 connections. */
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '400',
};

/** Starts PostgreSQL for the test run on a temporary folder; returns the URL of its `postgres` database. */
export async function startRunPostgres(resources: Resources): Promise<string> {
  const folder = await temporaryFolder(resources, 'test');
  // Started by root, the server runs as another user, which must be able to enter this folder.
  await chmod(folder, 0o711);
  const dataDirectory = join(folder, 'postgres');
  const server = await startEmbeddedPostgres({ dataDirectory, database: 'postgres', settings });
  const watchdog = watchProcess(server, folder);
  resources.add('postgres folder watchdog', watchdog.dismiss);
  resources.add('postgres', server.stop);
  return server.url;
}
