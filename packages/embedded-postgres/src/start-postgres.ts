import { holding } from '@orrery/service-kit';
import { Client } from 'pg';
import { linkLibraries, locateBinaries } from './binaries/binaries.js';
import type { Cluster } from './cluster/initdb.js';
import { openCluster } from './cluster/open-cluster.js';
import { clearStaleServer, reserve } from './server/existing-server.js';
import { keepRunning, type Supervision } from './server/keep-running.js';
import { runServer } from './server/run-server.js';
import { chooseSocketDirectory, urlOf } from './server/socket.js';

export interface EmbeddedPostgresOptions {
  /** Created on the first start with mode 0700, parents included, and reopened later. */
  readonly dataDirectory: string;
  /** Created if missing. Default `orrery`. */
  readonly database?: string;
  /** Server settings; they override the launcher's own (`{ fsync: 'off' }` in tests). */
  readonly settings?: Readonly<Record<string, string>>;
  /** Starts a server again that ends by itself. Without it, such a server stays down. */
  readonly supervision?: Supervision;
  /** Aborts a start; a server that runs already is ended by `stop`. */
  readonly signal?: AbortSignal;
}

export interface EmbeddedPostgres extends AsyncDisposable {
  /** For `pg` and libpq. Its `host` parameter is the directory of the socket; no port is open. */
  readonly url: string;
  /** Of the server that runs now. */
  readonly pid: number;
  /** Ends the server within 5 s; may be called again. */
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL from the npm binaries on a data directory of its own, reachable through a Unix socket only. The
 * server ends when this process ends, however that dies. The next start clears what is left all the same (a pid file,
 * an orphan).
 *
 * @throws StartupError when the platform has no binaries, the directory is in use or holds data of another major, …
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const binaries = await locateBinaries();
  await linkLibraries(binaries);
  const cluster = await openCluster(options.dataDirectory, binaries, options.signal);
  return serve(cluster, options);
}

function serve(cluster: Cluster, options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { database = 'orrery', settings = {}, signal, supervision } = options;
  return holding(async (resources) => {
    resources.add('data directory', await reserve(cluster.dataDirectory));
    await clearStaleServer(cluster.dataDirectory);
    const socket = await chooseSocketDirectory(cluster.dataDirectory, cluster.account);
    resources.add('socket directory', socket.release);
    const plan = { cluster, socket, settings, signal };
    const server = await (supervision ? keepRunning(plan, supervision) : runServer(plan));
    resources.add('postgres', server.stop);
    await ensureDatabase(urlOf(socket.path, 'template1'), database);
    return {
      url: urlOf(socket.path, database),
      get pid() {
        return server.pid;
      },
      stop: () => resources.release(),
    };
  });
}

/** Creates a database unless it exists. `url` names another database of the same server. */
async function ensureDatabase(url: string, database: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const found = await client.query('SELECT FROM pg_database WHERE datname = $1', [database]);
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${client.escapeIdentifier(database)}`);
  } finally {
    await client.end();
  }
}
