import { once } from 'node:events';
import { StartupError } from '@orrery/service-kit';
import type { Cluster } from './cluster.js';
import { lastWords } from './last-words.js';
import { watchProcess } from './watchdog.js';

/** Debian and its like bring `C.UTF-8`; elsewhere PostgreSQL's own provider sorts and folds the same way. */
const locale =
  process.platform === 'linux'
    ? ['--locale=C.UTF-8']
    : ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];

/** Runs initdb in an empty folder. No password: only the folder's owner reaches the socket. */
export async function initialise(cluster: Cluster, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const { binaries, dataDirectory, run } = cluster;
  const options = ['--username=orrery', '--auth=trust', '--encoding=UTF8', '--no-instructions', ...locale];
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

/** No such program, though it is there: its loader is missing, as on Alpine. */
export function notRun(cause: unknown): StartupError {
  return new StartupError(
    'The embedded PostgreSQL does not run on this system: set DATABASE_URL to a PostgreSQL server of your own.',
    { cause },
  );
}
