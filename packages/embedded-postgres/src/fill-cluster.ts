import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { StartupError } from '@orrery/service-kit';
import type { Cluster } from './cluster.js';
import { INITDB_OPTIONS } from './initdb-options.js';
import { runInitdb } from './run-initdb.js';
import { findTemplate } from './template.js';

/** Fills the cluster's empty folder: with a copy of the template where there is one. It is on disk when this resolves. */
export async function fillCluster(cluster: Cluster, signal?: AbortSignal): Promise<void> {
  const template = await findTemplate(cluster.binaries);
  if (template === undefined) return runInitdb(cluster, INITDB_OPTIONS, signal);
  await copy(template, cluster);
  await runInitdb(cluster, ['--sync-only'], signal);
}

const script = 'cp -R "$1/." "$2" && { [ -z "$3" ] || chown -R "$3" "$2"; }';

/** By the system's own `cp`, which takes 0.1 s where Node's takes a second. */
async function copy(template: string, { dataDirectory, account }: Cluster): Promise<void> {
  const owner = account === undefined ? '' : `${account.uid}:${account.gid}`;
  try {
    await promisify(execFile)('/bin/sh', ['-c', script, 'sh', template, dataDirectory, owner]);
  } catch (cause) {
    const { stderr } = cause as { stderr?: string };
    throw new StartupError(`PostgreSQL's data directory could not be filled: ${stderr?.trim()}`, { cause });
  }
}
