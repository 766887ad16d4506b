import { randomUUID } from 'node:crypto';
import { open, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Client } from 'pg';
import type { PostgresBinaries } from './binaries/binaries.js';
import { moveIntoPlace } from './cluster/create-cluster.js';
import { findTemplate, templateFolder } from './cluster/initdb.js';
import { startEmbeddedPostgres } from './start-postgres.js';

/** Makes the template unless it exists, in a draft folder first. Of two concurrent builds one wins. */
export async function makeTemplate(binaries: PostgresBinaries): Promise<void> {
  const folder = templateFolder(binaries);
  if (folder === undefined || (await findTemplate(binaries)) !== undefined) return;
  await removeOthers(folder);
  const draft = `${folder}.new-${process.pid}-${randomUUID()}`;
  try {
    const server = await startEmbeddedPostgres({ dataDirectory: draft, database: 'template1' });
    await nameDatabase(server.url).finally(() => server.stop());
    await punchHoles(join(draft, 'pg_wal'));
    await moveIntoPlace(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Removes templates of other versions, which nothing reads any more. */
async function removeOthers(folder: string): Promise<void> {
  const home = dirname(folder);
  for (const name of await readdir(home)) {
    const isOther = /^template-.*-/.test(name) && !name.startsWith(basename(folder));
    if (isOther) await rm(join(home, name), { recursive: true, force: true });
  }
}

/** Renames a database to `orrery`: creating it would write as much as the rest of a first start. */
async function nameDatabase(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('alter database postgres rename to orrery').finally(() => client.end());
}

/** Makes the empty end of each 16 MiB log file a hole, so that it takes no space and is not copied. */
async function punchHoles(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!entry.isFile()) continue;
    await using file = await open(join(folder, entry.name), 'r+');
    const bytes = await file.readFile();
    await file.truncate(bytes.findLastIndex((byte) => byte !== 0) + 1);
    await file.truncate(bytes.length);
    await file.sync();
  }
}
