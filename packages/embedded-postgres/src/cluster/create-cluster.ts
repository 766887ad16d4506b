import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chown, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { StartupError } from '@orrery/service-kit';
import { tryLock } from '../process/file-lock.js';
import { codeOf, commandLine } from '../process/process-facts.js';
import { type Cluster, findTemplate, INITDB_OPTIONS, runInitdb } from './initdb.js';

/**
 * Creates a cluster in a draft folder beside the data directory and renames it when it is complete. So a start that is
 * killed leaves no partial cluster, and of two concurrent starts the slower one uses the cluster of the faster one.
 */
export async function createCluster(cluster: Cluster, signal?: AbortSignal): Promise<void> {
  const { dataDirectory, account } = cluster;
  await sweep(dataDirectory);
  const draft = `${dataDirectory}.new-${process.pid}-${randomUUID()}`;
  await mkdir(draft, { mode: 0o700 });
  const unlock = await tryLock(draft, 'r');
  try {
    if (account !== undefined) await chown(draft, account.uid, account.gid);
    await fillCluster({ ...cluster, dataDirectory: draft }, signal);
    await moveIntoPlace(draft, dataDirectory);
  } finally {
    await rm(draft, { recursive: true, force: true });
    unlock?.();
  }
}

/** Renames the draft; a cluster that is already there stays. */
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

/** Removes drafts of starts that were killed. The makers in other containers have no visible pid, but a lock. */
async function sweep(dataDirectory: string): Promise<void> {
  const parent = dirname(dataDirectory);
  const prefix = `${basename(dataDirectory)}.new-`;
  for (const name of await readdir(parent)) {
    if (!name.startsWith(prefix)) continue;
    const maker = Number.parseInt(name.slice(prefix.length), 10);
    if ((await commandLine(maker)) !== '') continue;
    const unlock = await tryLock(join(parent, name), 'r');
    if (unlock === undefined) continue;
    await rm(join(parent, name), { recursive: true, force: true, maxRetries: 3 }).finally(unlock);
  }
}

/** Fills the cluster's empty folder, with a copy of the template if there is one. Resolves when the data is on disk. */
async function fillCluster(cluster: Cluster, signal?: AbortSignal): Promise<void> {
  const template = await findTemplate(cluster.binaries);
  if (template === undefined) return runInitdb(cluster, INITDB_OPTIONS, signal);
  await copy(template, cluster);
  await runInitdb(cluster, ['--sync-only'], signal);
}

const script = 'cp -R "$1/." "$2" && { [ -z "$3" ] || chown -R "$3" "$2"; }';

/** The system's `cp` takes 0.1 s, Node's takes a second. */
async function copy(template: string, { dataDirectory, account }: Cluster): Promise<void> {
  const owner = account === undefined ? '' : `${account.uid}:${account.gid}`;
  try {
    await promisify(execFile)('/bin/sh', ['-c', script, 'sh', template, dataDirectory, owner]);
  } catch (cause) {
    const { stderr } = cause as { stderr?: string };
    throw new StartupError(`PostgreSQL's data directory could not be filled: ${stderr?.trim()}`, { cause });
  }
}
