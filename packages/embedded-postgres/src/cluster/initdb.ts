import { once } from 'node:events';
import { StartupError } from '@orrery/service-kit';
import { lastWords, notRun } from '../process/run-program.js';
import { watchProcess } from '../process/watchdog.js';
import type { Cluster } from './cluster.js';

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
