import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';

/** What `flock -n` exits with where another holds the lock. */
const TAKEN = 1;

/**
 * Takes an exclusive lock (flock(2)) for as long as this process lives. The kernel keeps it, so unlike a pid it holds between
 * containers too, and it ends with the process however that dies. Node has no call for it: util-linux's `flock` locks the open
 * file that it shares with us, and the lock stays with that when the program ends. Without the program (macOS, which has no
 * PID namespaces), on a file system without locks, and where the file cannot be opened, nothing is locked.
 *
 * @returns how to give it back; `undefined` when another holds it.
 */
export async function tryLock(path: string, flags: 'r' | 'r+'): Promise<(() => void) | undefined> {
  const file = openOrNone(path, flags);
  if (file === undefined) return () => undefined;
  const code = await lock(file);
  if (code !== TAKEN) return () => closeSync(file);
  closeSync(file);
  return undefined;
}

/** A number: a FileHandle would be closed when nobody refers to it any more. */
function openOrNone(path: string, flags: 'r' | 'r+'): number | undefined {
  try {
    return openSync(path, flags);
  } catch {
    return undefined;
  }
}

async function lock(file: number): Promise<number> {
  const child = spawn('flock', ['-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', file] });
  const [code] = await once(child, 'exit').catch(() => [undefined]);
  return code;
}
