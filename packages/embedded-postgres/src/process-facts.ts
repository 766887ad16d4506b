import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const inProc = process.platform === 'linux';

/** A process's command line, words parted by spaces; empty when there is none: gone, a zombie, not ours to see. */
export async function commandLine(pid: number): Promise<string> {
  if (!inProc) return ps('command=', pid);
  const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return words.replaceAll('\0', ' ').trim();
}

/** When a process started, in the system's own words without spaces; with the pid it names one process for good. */
export async function startedAt(pid: number): Promise<string> {
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
