import { mkdir, readdir, readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { StartupError } from '@orrery/service-kit';
import type { PostgresBinaries } from '../binaries/binaries.js';
import { adopt, chooseAccount } from '../process/account.js';
import { codeOf } from '../process/process-facts.js';
import { chooseRun } from '../process/run-program.js';
import { createCluster } from './create-cluster.js';
import type { Cluster } from './initdb.js';

/**
 * Ensures that the directory holds a cluster of our major version, owned by the account that runs it.
 *
 * @throws StartupError for another major's data, a foreign folder, another user's folder.
 */
export async function openCluster(
  directory: string,
  binaries: PostgresBinaries,
  signal?: AbortSignal,
): Promise<Cluster> {
  const dataDirectory = await settle(directory);
  const account = await chooseAccount(dataDirectory);
  const run = await chooseRun(account, binaries, dirname(dataDirectory));
  const cluster = { dataDirectory, binaries, account, run };
  const version = await readVersion(dataDirectory);
  if (version === undefined) await createCluster(cluster, signal);
  else if (version !== binaries.major) throw otherMajor(cluster, version);
  else if (account !== undefined) await adopt(dataDirectory, account);
  return cluster;
}

async function settle(directory: string): Promise<string> {
  const path = resolve(directory);
  await mkdir(dirname(path), { recursive: true });
  return realpath(path).catch(async () => join(await realpath(dirname(path)), basename(path)));
}

/** `undefined` when there is no cluster yet: nothing there, or an empty folder. */
async function readVersion(dataDirectory: string): Promise<string | undefined> {
  const entries: string[] = await readdir(dataDirectory).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw unreadable(dataDirectory, error);
  });
  if (entries.includes('PG_VERSION'))
    return (await readFile(join(dataDirectory, 'PG_VERSION'), 'utf8')).trim();
  if (entries.length === 0) return undefined;
  throw new StartupError(
    `${dataDirectory} is not empty and holds no PostgreSQL data: choose another data directory.`,
  );
}

function otherMajor({ dataDirectory, binaries }: Cluster, version: string): StartupError {
  return new StartupError(
    `The data in ${dataDirectory} was written by PostgreSQL ${version}, this Orrery brings PostgreSQL ${binaries.major}: move that folder away to start afresh, or bring its data over with pg_dump from PostgreSQL ${version}.`,
  );
}

function unreadable(dataDirectory: string, cause: unknown): StartupError {
  const reason = codeOf(cause) === 'EACCES' ? 'it belongs to another user' : codeOf(cause);
  return new StartupError(
    `The data directory ${dataDirectory} cannot be read (${reason}): start Orrery as the user who made it, or choose another data directory.`,
    { cause },
  );
}
