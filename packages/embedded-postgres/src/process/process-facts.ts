import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const inProc = process.platform === 'linux';

/** The command line of a process, words separated by spaces; empty if it is gone, a zombie or not visible to us. */
export async function commandLine(pid: number): Promise<string> {
  if (!inProc) return ps('command=', pid);
  const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return words.replaceAll('\0', ' ').trim();
}

/** When a process started, as the system writes it, without spaces. Together with the pid it identifies a process. */
async function startedAt(pid: number): Promise<string> {
  if (!inProc) return (await ps('lstart=', pid)).replaceAll(/\s+/g, '_');
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // proc(5): field 22; field 2 is a name in parentheses that may hold anything.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

async function ps(column: string, pid: number): Promise<string> {
  const run = promisify(execFile);
  return run('ps', ['-ww', '-o', column, '-p', String(pid)]).then(
    ({ stdout }) => stdout.trim(),
    () => '',
  );
}

/**
 * The server's own command line names the launcher that owns it (PostgreSQL accepts any setting with a dot in its
 * name). So server and owner are read together and never disagree.
 */
const setting = 'orrery.owner';

/** The argument that names this process as the owner. */
export async function ownerArgument(): Promise<string> {
  return `${setting}=${process.pid}:${await startedAt(process.pid)}`;
}

/** The pid of the owner in a server's command line if it lives; `undefined` if it is gone; `null` if none is named. */
export async function livingOwner(command: string): Promise<number | undefined | null> {
  const named = /orrery\.owner=(\d+):(\S+)/.exec(command);
  if (named === null) return null;
  const pid = Number(named[1]);
  return (await startedAt(pid)) === named[2] ? pid : undefined;
}

/** The system's code of an error (`ENOENT`), or nothing. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
