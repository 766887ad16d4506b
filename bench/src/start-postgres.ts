import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@orrery/embedded-postgres';
import type { Resources } from '@orrery/service-kit';

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
