import { chmod, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { startEmbeddedPostgres, watchProcess } from '@orrery/embedded-postgres';
import type { Resources } from '@orrery/service-kit';
import { temporaryFolder } from '../servers/temporary-folder.js';

/**
 * Test data need not survive a power cut. Two processes of each service may open 150 connections. A move takes three workers,
 * slots and senders, and files that move partitions run at once.
 */
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '400',
  max_worker_processes: '24',
  max_logical_replication_workers: '16',
  max_replication_slots: '32',
  max_wal_senders: '32',
  max_wal_size: '256MB',
};

/** What the databases of a run take at most, with room, in bytes. */
const ROOM = 8 * 1024 ** 3;

/** Linux's folder in memory, where it has room: to make and to drop a database writes hundreds of files. */
async function memoryFolder(): Promise<string | undefined> {
  const folder = '/dev/shm';
  const { bavail, bsize } = await statfs(folder).catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize >= ROOM ? folder : undefined;
}

/** Starts PostgreSQL for the test run on a temporary folder; returns the URL of its `postgres` database. */
export async function startRunPostgres(resources: Resources): Promise<string> {
  const folder = await temporaryFolder(resources, 'test', await memoryFolder());
  // Started by root, the server runs as another user, which must be able to enter this folder.
  await chmod(folder, 0o711);
  const dataDirectory = join(folder, 'postgres');
  const server = await startEmbeddedPostgres({ dataDirectory, database: 'postgres', settings });
  const watchdog = watchProcess(server, folder);
  resources.add('postgres folder watchdog', watchdog.dismiss);
  resources.add('postgres', server.stop);
  return server.url;
}
