import { randomUUID } from 'node:crypto';
import { chown, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Cluster } from './cluster.js';
import { codeOf } from './error-code.js';
import { fillCluster } from './fill-cluster.js';
import { commandLine } from './process-facts.js';

/**
 * Makes a cluster beside its place and moves it there when it is whole: a start that was killed leaves no half
 * cluster, and of two at once the slower one finds the place taken and uses what is there.
 */
export async function createCluster(cluster: Cluster, signal?: AbortSignal): Promise<void> {
  const { dataDirectory, account } = cluster;
  await sweep(dataDirectory);
  const draft = `${dataDirectory}.new-${process.pid}-${randomUUID()}`;
  try {
    await mkdir(draft, { mode: 0o700 });
    if (account !== undefined) await chown(draft, account.uid, account.gid);
    await fillCluster({ ...cluster, dataDirectory: draft }, signal);
    await moveIntoPlace(draft, dataDirectory);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Who was there first stays. */
export async function moveIntoPlace(draft: string, dataDirectory: string): Promise<void> {
  try {
    await rename(draft, dataDirectory);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) throw error;
    return;
  }
  const parent = await open(dirname(dataDirectory));
  await parent.sync().finally(() => parent.close());
}

/** Removes the drafts of starts that were killed. */
async function sweep(dataDirectory: string): Promise<void> {
  const parent = dirname(dataDirectory);
  const prefix = `${basename(dataDirectory)}.new-`;
  for (const name of await readdir(parent)) {
    if (!name.startsWith(prefix)) continue;
    const maker = Number.parseInt(name.slice(prefix.length), 10);
    if ((await commandLine(maker)) !== '') continue;
    await rm(join(parent, name), { recursive: true, force: true, maxRetries: 3 });
  }
}
