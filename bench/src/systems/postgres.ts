import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@orrery/embedded-postgres';
import type { Resources } from '@orrery/service-kit';
import { query, temporaryFolder } from '@orrery/testing/servers';

/** PostgreSQL with its default durability, in a new folder that takes other files too and goes with the resources. */
export async function startPostgres(
  resources: Resources,
  settings: Readonly<Record<string, string>> = {},
): Promise<{ readonly folder: string; readonly postgres: EmbeddedPostgres }> {
  const folder = await temporaryFolder(resources, 'bench');
  const dataDirectory = join(folder, 'postgres');
  const postgres = resources.use('postgres', await startEmbeddedPostgres({ dataDirectory, settings }));
  return { folder, postgres };
}

/** Makes a database on the server and answers its address; the name is a plain identifier. */
export async function createDatabase(serverUrl: string, name: string): Promise<string> {
  await query(serverUrl, `CREATE DATABASE "${name}"`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** How long something is waited for, in milliseconds. */
const PATIENCE_MS = 600_000;

/** Resolves once the query's one row is true. @throws Error after ten minutes */
export async function untilTrue(databaseUrl: string, expression: string, everyMs = 50): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const [row] = await query<{ is: boolean }>(databaseUrl, `select (${expression}) as is`);
    if (row?.is) return;
    if (performance.now() > until) throw new Error(`this has not become true: ${expression}`);
    await setTimeout(everyMs);
  }
}

/** Resolves, with the seconds it took, once a system has published all facts of what it executed. */
export async function untilPublished(databaseUrl: string): Promise<number> {
  const began = performance.now();
  await untilTrue(databaseUrl, 'not exists (select from runtime.journal_heads where published < seq)');
  return (performance.now() - began) / 1000;
}
