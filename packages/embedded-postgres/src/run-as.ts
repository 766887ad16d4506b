import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { StartupError } from '@orrery/service-kit';
import type { Account } from './account.js';
import type { PostgresBinaries } from './binaries.js';

/** Starts a program in a session of its own, so that a terminal's Ctrl-C reaches only the one who stops it. */
export type Run = (file: string, args: readonly string[], stdio: StdioOptions) => ChildProcess;

/** Nothing of our environment reaches PostgreSQL: `PGPORT`, `PGDATA` or a locale would change what it does. */
const bare = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/**
 * How to run PostgreSQL's programs as `account`. Root's checkout or data may lie under a folder closed to that
 * user (a 0700 home): then, on Linux, the programs keep one capability of root, to pass through folders.
 * @throws StartupError when the user can reach them neither way.
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
  return (file, args, stdio) => spawn(file, args, { ...account, stdio, env: bare, cwd: '/', detached: true });
}

function withCapability({ uid, gid }: Account): Run {
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  const capability = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override'];
  // access(2), with which PostgreSQL looks for its own programs, goes without capabilities unless told this.
  const security = ['--securebits=+no_setuid_fixup'];
  const prefix = [...identity, ...capability, ...security, '--'];
  const run = plainly();
  return (file, args, stdio) => run('setpriv', [...prefix, file, ...args], stdio);
}

/** Asks the system by trying: modes, access lists and mount options all count. */
async function reaches(run: Run, { postgres, root }: PostgresBinaries, parent: string): Promise<boolean> {
  const library = join(root, 'lib', 'libpq.so.5');
  const test = '[ -x "$1" ] && [ -r "$2" ] && [ -x "$3" ] && [ -x "$4" ]';
  const share = join(root, 'share', 'postgresql');
  const child = run('/bin/sh', ['-c', test, 'sh', postgres, library, share, parent], 'ignore');
  const code = await once(child, 'exit').catch(() => [1]);
  return code[0] === 0;
}
