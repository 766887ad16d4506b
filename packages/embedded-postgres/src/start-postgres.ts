import { holding } from '@orrery/service-kit';
import { locateBinaries } from './binaries.js';
import { type Cluster, openCluster } from './cluster.js';
import { ensureDatabase } from './ensure-database.js';
import { linkLibraries } from './link-libraries.js';
import { runServer } from './run-server.js';
import { urlOf } from './server-url.js';
import { chooseSocketDirectory } from './socket-directory.js';
import { clearStaleServer } from './stale-server.js';

export interface EmbeddedPostgresOptions {
  /** Made on the first start, mode 0700, and reopened later. Its parents are made too. */
  readonly dataDirectory: string;
  /** Made when missing; `orrery` by default. */
  readonly database?: string;
  /** Server settings, over the launcher's own (`{ fsync: 'off' }` in tests). */
  readonly settings?: Readonly<Record<string, string>>;
  /** Gives up a start that is under way; a server that runs is ended by `stop`. */
  readonly signal?: AbortSignal;
}

export interface EmbeddedPostgres extends AsyncDisposable {
  /** For `pg` and libpq; its `host` parameter is the socket's folder, no port is open. */
  readonly url: string;
  readonly pid: number;
  /** Ends the server, at worst after 5 s; may be called again. */
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL from the npm binaries on a data directory of its own, reachable through a Unix socket only.
 * The server ends when this process does, however that dies; what is left behind nevertheless (a pid file, an
 * orphan) is cleared by the next start.
 * @throws StartupError when it cannot: no binaries for the platform, the directory in use, of another major, …
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const binaries = await locateBinaries();
  await linkLibraries(binaries);
  const cluster = await openCluster(options.dataDirectory, binaries, options.signal);
  await clearStaleServer(cluster.dataDirectory);
  return serve(cluster, options);
}

function serve(cluster: Cluster, options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { database = 'orrery', settings = {}, signal } = options;
  return holding(async (resources) => {
    const socket = await chooseSocketDirectory(cluster.dataDirectory, cluster.account);
    resources.add('socket directory', socket.release);
    const server = await runServer({ cluster, socket, settings, signal });
    resources.add('postgres', server.stop);
    await ensureDatabase(urlOf(socket.path, 'template1'), database);
    return { url: urlOf(socket.path, database), pid: server.pid, stop: () => resources.release() };
  });
}
