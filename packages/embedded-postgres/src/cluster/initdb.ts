import { hash } from 'node:crypto';
import { once } from 'node:events';
import { access, constants } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { StartupError } from '@orrery/service-kit';
import type { PostgresBinaries } from '../binaries/binaries.js';
import type { Account } from '../process/account.js';
import { lastWords, notRun, type Run } from '../process/run-program.js';
import { watchProcess } from '../process/watchdog.js';

/** A data directory and the means to run PostgreSQL's programs on it. */
export interface Cluster {
  /** Absolute, without symbolic links: a running server is recognised by this path in its command line. */
  readonly dataDirectory: string;
  readonly binaries: PostgresBinaries;
  readonly account: Account | undefined;
  readonly run: Run;
}

/** Linux has `C.UTF-8`; elsewhere PostgreSQL's built-in provider sorts and folds case in the same way. */
const locale =
  process.platform === 'linux'
    ? ['--locale=C.UTF-8']
    : ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];

/** No password: only the owner of the folder can reach the socket. */
export const INITDB_OPTIONS = [
  '--username=orrery',
  '--auth=trust',
  '--encoding=UTF8',
  '--no-instructions',
  ...locale,
];

/** Runs initdb on the cluster's folder. @throws StartupError with its last output, or the signal's reason. */
export async function runInitdb(
  { binaries, dataDirectory, run }: Cluster,
  options: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted();
  const child = run(binaries.initdb, ['-D', dataDirectory, ...options], ['ignore', 'ignore', 'pipe']);
  const words = lastWords(child);
  const closed = once(child, 'close').catch((cause) => Promise.reject(notRun(cause)));
  const watchdog = watchProcess(child);
  const stop = () => void child.kill('SIGINT');
  signal?.addEventListener('abort', stop);
  const [code] = await closed.finally(() => {
    watchdog.dismiss();
    signal?.removeEventListener('abort', stop);
  });
  signal?.throwIfAborted();
  if (code !== 0) throw new StartupError(`PostgreSQL could not make its data directory: ${words()}`);
}

/** Raise it when `makeTemplate` changes what it makes of initdb's output. */
const FORMAT = 1;
const recipe = hash('sha256', JSON.stringify([FORMAT, INITDB_OPTIONS]), 'hex').slice(0, 8);

/**
 * A template is a cluster as initdb leaves it, with its database named, made once by the build. Copying it takes a
 * fifth of initdb's time. All copies share one system identifier, which matters for replication only.
 *
 * @returns the template's path for these binaries; `undefined` if the package's own folder is unknown.
 */
export function templateFolder({ version }: PostgresBinaries): string | undefined {
  const name = `template-${process.platform}-${process.arch}-${version}-${recipe}`;
  try {
    const manifest = createRequire(import.meta.url).resolve('@orrery/embedded-postgres/package.json');
    return join(dirname(manifest), 'dist', name);
  } catch {
    return undefined;
  }
}

/** The path of a readable template for these binaries, or `undefined`. */
export async function findTemplate(binaries: PostgresBinaries): Promise<string | undefined> {
  const folder = templateFolder(binaries);
  if (folder === undefined) return undefined;
  return access(join(folder, 'PG_VERSION'), constants.R_OK).then(
    () => folder,
    () => undefined,
  );
}
