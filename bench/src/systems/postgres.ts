import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@orrery/embedded-postgres';
import type { Resources } from '@orrery/service-kit';
import { Client } from 'pg';

/** PostgreSQL with its default durability, in a new folder that takes other files too and goes with the resources. */
export async function startPostgres(
  resources: Resources,
  settings: Readonly<Record<string, string>> = {},
): Promise<{ readonly folder: string; readonly postgres: EmbeddedPostgres }> {
  const folder = await mkdtemp(join(tmpdir(), 'orrery-bench-'));
  resources.add('folder', () => rm(folder, { recursive: true, force: true }));
  const dataDirectory = join(folder, 'postgres');
  const postgres = resources.use('postgres', await startEmbeddedPostgres({ dataDirectory, settings }));
  return { folder, postgres };
}

export async function withClient<T>(databaseUrl: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  return work(client).finally(() => client.end());
}

/** Makes a database on the server and answers its address. */
export async function createDatabase(serverUrl: string, name: string): Promise<string> {
  await withClient(serverUrl, (client) =>
    client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`).then(() => undefined),
  );
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** How long something is waited for, in milliseconds. */
const PATIENCE_MS = 600_000;

/** Resolves once the query's one row is true. @throws Error after ten minutes */
export const untilTrue = (databaseUrl: string, expression: string, everyMs = 50): Promise<void> =>
  withClient(databaseUrl, async (client) => {
    for (const until = performance.now() + PATIENCE_MS; ; await setTimeout(everyMs)) {
      const { rows } = await client.query<{ is: boolean }>(`select (${expression}) as is`);
      if (rows[0]?.is) return;
      if (performance.now() > until) throw new Error(`this has not become true: ${expression}`);
    }
  });

/** Resolves, with the seconds it took, once a system has published all facts of what it executed. */
export async function untilPublished(databaseUrl: string): Promise<number> {
  const began = performance.now();
  await untilTrue(databaseUrl, 'not exists (select from runtime.outbox)');
  return (performance.now() - began) / 1000;
}
