import { readdir, readFile } from 'node:fs/promises';

/** The command lines of all processes that name this folder: PostgreSQL's servers and watchdogs do. Linux only. */
export async function processesOf(folder: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    // A process that ended meanwhile names nothing.
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return lines.map((line) => line.replaceAll('\0', ' ').trim()).filter((line) => line.includes(folder));
}
