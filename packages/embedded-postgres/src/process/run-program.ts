import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { StartupError } from '@orrery/service-kit';
import type { PostgresBinaries } from '../binaries/binaries.js';
import type { Account } from './account.js';
import { BARE } from './process-facts.js';

/** Starts a program in a session of its own, so that a terminal's Ctrl-C reaches only the launcher. */
export type Run = (file: string, args: readonly string[], stdio: StdioOptions) => ChildProcess;

/**
 * How to run PostgreSQL's programs as `account`. Root's checkout or data may be inside a folder that is closed to that
 * user (a 0700 home). Then, on Linux, the programs keep one capability of root (`CAP_DAC_OVERRIDE`, docs/operations.md).
 *
 * @throws StartupError when the user cannot reach them even so.
 */
export async function chooseRun(
  account: Account | undefined,
  binaries: PostgresBinaries,
  parent: string,
): Promise<Run> {
  if (account === undefined) return plainly();
  const direct = plainly(account);
  if (await reaches(direct, binaries, parent)) return direct;
  const capable = withCapability(account);
  if (await reaches(capable, binaries, parent)) return capable;
  throw new StartupError(
    `PostgreSQL runs as user ${account.uid}, who cannot reach ${binaries.root} or ${parent}: move them out of closed folders (chmod o+x), or start Orrery as an ordinary user.`,
  );
}

function plainly(account?: Account): Run {
  return (file, args, stdio) => spawn(file, args, { ...account, stdio, env: BARE, cwd: '/', detached: true });
}

function withCapability({ uid, gid }: Account): Run {
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  const capability = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override'];
  // Without this, access(2), with which PostgreSQL looks for its own programs, ignores capabilities.
  const security = ['--securebits=+no_setuid_fixup'];
  const prefix = [...identity, ...capability, ...security, '--'];
  const run = plainly();
  return (file, args, stdio) => run('setpriv', [...prefix, file, ...args], stdio);
}

const LIBRARY = process.platform === 'darwin' ? 'libpq.5.dylib' : 'libpq.so.5';

/** Tries it out: modes, access lists and mount options all count. */
async function reaches(run: Run, { postgres, root }: PostgresBinaries, parent: string): Promise<boolean> {
  const library = join(root, 'lib', LIBRARY);
  const test = '[ -x "$1" ] && [ -r "$2" ] && [ -x "$3" ] && [ -x "$4" ]';
  const share = join(root, 'share', 'postgresql');
  const child = run('/bin/sh', ['-c', test, 'sh', postgres, library, share, parent], 'ignore');
  const code = await once(child, 'exit').catch(() => [1]);
  return code[0] === 0;
}

const kept = 5;

/** Reads a child's standard error, calls `onLine` for each line and keeps the last few for an error message. */
export function lastWords(child: ChildProcess, onLine?: (line: string) => unknown): () => string {
  const lines: string[] = [];
  if (child.stderr === null) return () => '';
  createInterface({ input: child.stderr }).on('line', (line) => {
    lines.push(line.trim());
    if (lines.length > kept) lines.shift();
    onLine?.(line);
  });
  return () => lines.join(' ');
}

/** The error of a program that is there and cannot be started: the loader it needs is missing, as on Alpine. */
export function notRun(cause: unknown): StartupError {
  return new StartupError(
    'The embedded PostgreSQL does not run on this system: set DATABASE_URL to a PostgreSQL server of your own.',
    { cause },
  );
}
