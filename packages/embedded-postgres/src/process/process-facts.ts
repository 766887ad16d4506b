import { type ExecFileOptions, execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** What programs of the system and PostgreSQL get: anything of ours, such as `PGPORT` or a locale, would change what they do. */
export const BARE = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

const inProc = process.platform === 'linux';

/** The command line of a process, words separated by spaces; empty if it is gone, a zombie or not visible to us. */
export async function commandLine(pid: number): Promise<string> {
  if (!inProc) return ps('command=', pid);
  const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return words.replaceAll('\0', ' ').trim();
}

/** When a process started, as the system writes it, without spaces. Together with the pid it identifies a process. */
async function startedAt(pid: number): Promise<string> {
  if (!inProc) return startedByPs(pid);
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // proc(5): field 22; field 2 is a name in parentheses that may hold anything.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

/** The same to every process, whatever its locale and time zone. */
export const startedByPs = async (pid: number, options: ExecFileOptions = { env: BARE }): Promise<string> =>
  (await ps('lstart=', pid, options)).replaceAll(/\s+/g, '_');

async function ps(column: string, pid: number, options: ExecFileOptions = { env: BARE }): Promise<string> {
  const run = promisify(execFile);
  return run('ps', ['-ww', '-o', column, '-p', String(pid)], options).then(
    ({ stdout }) => String(stdout).trim(),
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
  const starts = [await startedAt(pid)];
  // The release before asked in its own locale and time zone.
  if (!inProc) starts.push(await startedByPs(pid, {}));
  return starts.includes(named[2] ?? '') ? pid : undefined;
}

/** The system's code of an error (`ENOENT`), or nothing. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
