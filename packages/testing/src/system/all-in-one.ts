import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { holding } from '@orrery/service-kit';
import { startNode } from './node-process.js';
import type { System } from './system.js';

/** Starts the built all-in-one on a given database, or on an embedded one in a temporary folder. */
export function startAllInOne(databaseUrl?: string, env: Record<string, string> = {}): Promise<System> {
  return holding(async (resources) => {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'orrery-'));
    resources.add('data directory', () => rm(dataDirectory, { recursive: true, force: true }));
    const process = startNode('apps/standalone/dist/bundle/main.js', {
      PORT: '0',
      ORRERY_DATA_DIR: dataDirectory,
      ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
      ...env,
    });
    resources.use('all-in-one', process);
    const [, url = ''] = await process.waitFor(/(http:\/\/[\d.]+:\d+)/);
    const [key] = await process.waitFor(/orrery_\w+/);
    return { shape: 'all-in-one', url, key, databaseUrl: databaseUrl ?? '', output: process.output };
  });
}
