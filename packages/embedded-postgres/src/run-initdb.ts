import { once } from 'node:events';
import { StartupError } from '@orrery/service-kit';
import type { Cluster } from './cluster.js';
import { lastWords } from './last-words.js';
import { watchProcess } from './watchdog.js';

/** Runs initdb on the cluster's folder. @throws StartupError with its last words, or the signal's reason. */
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

/** No such program, though it is there: its loader is missing, as on Alpine. */
export function notRun(cause: unknown): StartupError {
  return new StartupError(
    'The embedded PostgreSQL does not run on this system: set DATABASE_URL to a PostgreSQL server of your own.',
    { cause },
  );
}
