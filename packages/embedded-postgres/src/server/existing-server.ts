import { readdir, readFile, readlink, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartupError } from '@orrery/service-kit';
import { endProcess } from '../process/end-process.js';
import { tryLock } from '../process/file-lock.js';
import { commandLine, livingOwner } from '../process/process-facts.js';
import { accepts, urlOf } from './socket.js';

/** Lines of `postmaster.pid` (PostgreSQL's `pidfile.h`), counted from 0. */
const PID_LINE = 0;
const SOCKET_DIRECTORY_LINE = 4;

/** The URL of a server that already runs on this data directory; `undefined` if none does. */
export async function findRunningPostgres(directory: string): Promise<string | undefined> {
  const dataDirectory = await realpath(directory).catch(() => undefined);
  if (dataDirectory === undefined) return undefined;
  const lines = (await readPidFile(dataDirectory)).split('\n');
  const socketDirectory = lines[SOCKET_DIRECTORY_LINE];
  const command = await commandLine(Number.parseInt(lines[PID_LINE] ?? '', 10));
  return isServerOf(command, dataDirectory) && socketDirectory ? urlOf(socketDirectory, 'orrery') : undefined;
}

const readPidFile = (dataDirectory: string): Promise<string> =>
  readFile(join(dataDirectory, 'postmaster.pid'), 'utf8').catch(() => '');

/**
 * Reserves a data directory for this process. It comes before everything else that changes a server's files: pids say nothing
 * of a server in another container, and two that start at once have none yet.
 *
 * @returns how to give it back.
 * @throws StartupError when the directory is in use.
 */
export async function reserve(dataDirectory: string): Promise<() => void> {
  // On NFS only a file that is open for writing can be locked. PostgreSQL never replaces this one.
  const release = await tryLock(join(dataDirectory, 'PG_VERSION'), 'r+');
  if (release === undefined) throw inUse(dataDirectory, await visibleOwner(dataDirectory));
  return release;
}

async function visibleOwner(dataDirectory: string): Promise<number | undefined> {
  const pid = Number.parseInt(await readPidFile(dataDirectory), 10);
  const command = await commandLine(pid);
  return isServerOf(command, dataDirectory) ? ((await livingOwner(command)) ?? undefined) : undefined;
}

/**
 * Clears the way for a new server when the last one left its pid file behind. That pid may by now belong to any
 * process, so the command line decides:
 * - not a server of this directory: refused if one accepts connections all the same, since pids of another container are not
 *   visible; else the pid is stale, and of the gone server only children that it left are ended;
 * - a server whose launcher lives, or that we did not start: refused;
 * - a server whose launcher is gone: an orphan, which is ended.
 *
 * @throws StartupError when the directory is in use.
 */
export async function clearStaleServer(dataDirectory: string): Promise<void> {
  const file = join(dataDirectory, 'postmaster.pid');
  const content = await readFile(file, 'utf8').catch(() => undefined);
  if (content === undefined) return;
  const pid = Number.parseInt(content, 10);
  const serves = async () => isServerOf(await commandLine(pid), dataDirectory);
  if (!(pid > 0) || !(await serves())) {
    if (await isServed(content, dataDirectory)) throw inUse(dataDirectory);
    await endChildren(dataDirectory);
    return disown(file, content);
  }
  const owner = await livingOwner(await commandLine(pid));
  if (owner !== undefined) throw inUse(dataDirectory, owner ?? pid);
  await endProcess(pid, serves);
}

export function inUse(dataDirectory: string, holder?: number): StartupError {
  const who = holder === undefined ? 'another process, here or in another container' : `process ${holder}`;
  return new StartupError(
    `The data in ${dataDirectory} is in use by ${who}: stop it first, or choose another data directory with ORRERY_DATA_DIR.`,
  );
}

/** Whether a server answers where the pid file has its socket, or in the data directory, which may have another path there. */
async function isServed(content: string, dataDirectory: string): Promise<boolean> {
  const named = content.split('\n')[SOCKET_DIRECTORY_LINE];
  return (await accepts(dataDirectory)) || (!!named && (await accepts(named)));
}

function isServerOf(command: string, dataDirectory: string): boolean {
  return /postgres/.test(command) && `${command} `.includes(` -D ${dataDirectory} `);
}

/**
 * A child in the midst of a long computation does not notice that its server is gone, and no new server starts beside it.
 * It is found by its working directory, so on Linux only. What it does is lost anyway: the next start recovers.
 */
async function endChildren(dataDirectory: string): Promise<void> {
  const entries = await readdir('/proc').catch(() => []);
  for (const pid of entries.map(Number).filter((entry) => entry > 0)) {
    const folder = await readlink(`/proc/${pid}/cwd`).catch(() => '');
    if (folder !== dataDirectory) continue;
    const isChild = async () => (await commandLine(pid)).startsWith('postgres: ');
    await endProcess(pid, isChild, [['SIGKILL', 1000]]);
  }
}

/**
 * PostgreSQL would take any living process of its user for the old server, but ignores the pid of its own parent. So
 * our pid is written there. The other lines stay: PostgreSQL uses them to look for surviving backends.
 */
async function disown(file: string, content: string): Promise<void> {
  const [, ...rest] = content.split('\n');
  await writeFile(file, [String(process.pid), ...rest].join('\n'));
}
