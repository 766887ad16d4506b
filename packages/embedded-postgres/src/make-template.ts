import { open, readdir, rename, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import type { PostgresBinaries } from './binaries.js';
import { startEmbeddedPostgres } from './start-postgres.js';
import { findTemplate, templateFolder } from './template.js';

/** Makes the template unless it is there, beside its place first. @throws StartupError as a start does. */
export async function makeTemplate(binaries: PostgresBinaries): Promise<void> {
  if ((await findTemplate(binaries)) !== undefined) return;
  const folder = templateFolder(binaries);
  const draft = `${folder}.new`;
  await rm(draft, { recursive: true, force: true });
  const server = await startEmbeddedPostgres({ dataDirectory: draft, database: 'postgres' });
  await nameDatabase(server.url).finally(() => server.stop());
  await leaveHoles(join(draft, 'pg_wal'));
  await rename(draft, folder);
}

/** The database that everyone uses is there then; making it would write as much as the rest of a first start. */
async function nameDatabase(url: string): Promise<void> {
  const client = new Client({ connectionString: url.replace('/postgres?', '/template1?') });
  await client.connect();
  await client.query('alter database postgres rename to orrery').finally(() => client.end());
}

/** The empty end of a log file of 16 MiB need neither be kept nor copied. */
async function leaveHoles(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(folder, entry.name);
    await using file = await open(path);
    const bytes = await file.readFile();
    const used = bytes.findLastIndex((byte) => byte !== 0) + 1;
    await truncate(path, used);
    await truncate(path, bytes.length);
  }
}
