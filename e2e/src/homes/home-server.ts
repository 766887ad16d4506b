import { join } from 'node:path';
import { startEmbeddedPostgres } from '@orrery/embedded-postgres';

/** A PostgreSQL server whose database is a home; a test kills it, and starts it again on its folder and its address. */
export interface HomeServer extends AsyncDisposable {
  readonly url: string;
  kill(): void;
  restart(): Promise<void>;
}

const settings = {
  // What is acknowledged survives the end of the server, not of the machine.
  ...{ fsync: 'off', full_page_writes: 'off' },
  // A worker that lost its server looks for it after 5 s otherwise, and two tables are copied at once.
  wal_retrieve_retry_interval: '200ms',
  ...{ max_sync_workers_per_subscription: '6', max_logical_replication_workers: '10' },
  max_worker_processes: '20',
};

export async function startHomeServer(folder: string, name: string): Promise<HomeServer> {
  const start = () => startEmbeddedPostgres({ dataDirectory: join(folder, name), settings });
  let server = await start();
  return {
    url: server.url,
    kill: () => void process.kill(server.pid, 'SIGKILL'),
    restart: async () => {
      await server.stop();
      server = await start();
    },
    [Symbol.asyncDispose]: () => server.stop(),
  };
}
