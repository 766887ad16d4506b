import { chmod, mkdir, rm } from 'node:fs/promises';
import type { NetConnectOpts } from 'node:net';
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@orrery/embedded-postgres';
import type { Resources } from '@orrery/service-kit';
import { startNatsServer, startRedisServer, type TestServer } from '@orrery/testing/servers';

export type BackendName = 'database' | 'nats' | 'redis';
export const BACKENDS: readonly BackendName[] = ['database', 'nats', 'redis'];

/** The servers that every process uses, each of which may end at any moment. */
export interface Backends {
  /** Past all links, for the checker. */
  readonly databaseUrl: string;
  readonly targets: Readonly<Record<BackendName, NetConnectOpts>>;
  /** Ends a server with SIGKILL. */
  kill(backend: BackendName): Promise<void>;
  /** Starts it again; with `wiped` NATS has lost what it stored, as Redis always has. */
  restart(backend: BackendName, options?: { readonly wiped: boolean }): Promise<void>;
}

/** What is acknowledged survives the end of the server, not of the machine. */
const settings = { fsync: 'off', full_page_writes: 'off', max_connections: '400' };

export async function startBackends(resources: Resources, folder: string): Promise<Backends> {
  // Started by root, PostgreSQL runs as another user, which must be able to enter.
  await chmod(folder, 0o711);
  const dataDirectory = join(folder, 'postgres');
  const storeDir = join(folder, 'nats');
  await mkdir(storeDir);
  const startPostgres = () => startEmbeddedPostgres({ dataDirectory, settings });
  let postgres: EmbeddedPostgres = await startPostgres();
  resources.add('postgres', () => postgres.stop());
  let nats: TestServer = await startNatsServer({ storeDir });
  resources.add('nats', () => nats.stop());
  let redis: TestServer = await startRedisServer();
  resources.add('redis', () => redis.stop());
  const socket = new URL(postgres.url).searchParams.get('host') ?? '';
  return {
    databaseUrl: postgres.url,
    targets: {
      database: { path: join(socket, '.s.PGSQL.5432') },
      nats: { host: '127.0.0.1', port: nats.port },
      redis: { host: '127.0.0.1', port: redis.port },
    },
    kill: async (backend) => {
      if (backend === 'nats') await nats.kill();
      else if (backend === 'redis') await redis.kill();
      else process.kill(postgres.pid, 'SIGKILL');
    },
    restart: async (backend, { wiped } = { wiped: false }) => {
      if (backend === 'redis') {
        redis = await startRedisServer({ port: redis.port });
      } else if (backend === 'nats') {
        if (wiped) await rm(storeDir, { recursive: true, force: true });
        nats = await startNatsServer({ storeDir, port: nats.port });
      } else {
        await postgres.stop();
        postgres = await startPostgres();
      }
    },
  };
}
