import type { ChildProcess } from 'node:child_process';
import { StartupError } from '@orrery/service-kit';
import type { Cluster } from '../cluster/initdb.js';
import { endProcess } from '../process/end-process.js';
import { ownerArgument } from '../process/process-facts.js';
import { lastWords, notRun } from '../process/run-program.js';
import { watchProcess } from '../process/watchdog.js';
import { inUse } from './existing-server.js';
import type { SocketDirectory } from './socket.js';

export interface ServerPlan {
  readonly cluster: Cluster;
  readonly socket: SocketDirectory;
  readonly settings: Readonly<Record<string, string>>;
  readonly signal: AbortSignal | undefined;
}

export interface RunningServer {
  readonly pid: number;
  /** Resolves when the process is gone, with how it ended. Children of a killed one may still be there. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

const ownSettings = {
  listen_addresses: '',
  port: '5432',
  max_connections: '200',
  shared_buffers: '128MB',
  // Partitions move to other databases by logical replication (docs/adr/0052).
  wal_level: 'logical',
  // `log` ranks above `error`: errors go to clients only, since the statements logged with them contain users' data.
  log_min_messages: 'log',
  log_checkpoints: 'off',
};

/** A standby accepts read-only connections. */
const READY = /database system is ready to accept (?:read-only )?connections/;

/** Starts the server. Resolves when it accepts connections, after crash recovery if necessary. */
export async function runServer({ cluster, socket, settings, signal }: ServerPlan): Promise<RunningServer> {
  signal?.throwIfAborted();
  const { binaries, dataDirectory, run } = cluster;
  const all = { ...ownSettings, ...settings, unix_socket_directories: socket.path };
  const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const owner = ['-c', await ownerArgument()];
  const child = run(
    binaries.postgres,
    ['-D', dataDirectory, ...owner, ...args],
    ['ignore', 'ignore', 'pipe'],
  );
  const watchdog = watchProcess(child, socket.temporary);
  child.once('exit', watchdog.dismiss);
  let onReady = () => {};
  const words = lastWords(child, (line) => READY.test(line) && onReady());
  const ready = new Promise<void>((resolve, reject) => {
    onReady = resolve;
    child.once('error', (cause) => reject(notRun(cause)));
    child.once('close', () => reject(notReady(words(), dataDirectory)));
  });
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, by) => resolve(`${by ?? `code ${code}`} after: ${words()}`));
  });
  const stop = () => endChild(child);
  signal?.addEventListener('abort', stop);
  await ready.finally(() => signal?.removeEventListener('abort', stop));
  signal?.throwIfAborted();
  return { pid: child.pid ?? 0, ended, stop };
}

async function endChild(child: ChildProcess): Promise<void> {
  const { pid } = child;
  if (pid !== undefined)
    await endProcess(pid, async () => child.exitCode === null && child.signalCode === null);
}

function notReady(words: string, dataDirectory: string): StartupError {
  const taken = words.includes('lock file "postmaster.pid" already exists');
  return taken ? inUse(dataDirectory) : new StartupError(`PostgreSQL did not start: ${words}`);
}
