import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartupError } from '@orrery/service-kit';
import { endProcess } from './end-process.js';
import { livingOwner } from './owner.js';
import { commandLine } from './process-facts.js';

/**
 * Makes way for a new server when the last one left its pid file behind. The file's pid may by now belong to
 * anyone, so the command line decides:
 * - no server of this directory → the pid is stale; nobody is signalled;
 * - a server whose launcher lives, or that was not started by us → refused;
 * - a server whose launcher is gone → an orphan: ended.
 * @throws StartupError when the directory is in use.
 */
export async function clearStaleServer(dataDirectory: string): Promise<void> {
  const file = join(dataDirectory, 'postmaster.pid');
  const content = await readFile(file, 'utf8').catch(() => undefined);
  if (content === undefined) return;
  const pid = Number.parseInt(content, 10);
  const serves = async () => isServerOf(await commandLine(pid), dataDirectory);
  if (!(pid > 0) || !(await serves())) return disown(file, content);
  const owner = await livingOwner(await commandLine(pid));
  if (owner !== undefined) throw inUse(dataDirectory, owner ?? pid);
  await endProcess(pid, serves);
}

export function inUse(dataDirectory: string, holder?: number): StartupError {
  const who = holder === undefined ? 'another process' : `process ${holder}`;
  return new StartupError(
    `The data in ${dataDirectory} is in use by ${who}: stop it first, or choose another data directory.`,
  );
}

function isServerOf(command: string, dataDirectory: string): boolean {
  return /postgres/.test(command) && `${command} `.includes(` -D ${dataDirectory} `);
}

/**
 * PostgreSQL would take any living process of its user for the old server. It passes over its own parent's pid,
 * though, so ours is put there; the other lines stay, with which it looks for surviving backends.
 */
async function disown(file: string, content: string): Promise<void> {
  const [, ...rest] = content.split('\n');
  await writeFile(file, [String(process.pid), ...rest].join('\n'));
}
