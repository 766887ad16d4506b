/** A process that starts a server on the folder it is given, tells its parent, and holds it until told to let go. */
import { startEmbeddedPostgres } from '../src/index.js';

try {
  const { url, pid, stop } = await startEmbeddedPostgres({ dataDirectory: process.argv[2] ?? '' });
  process.send?.({ url, pid });
  process.once('disconnect', stop);
} catch (error) {
  process.send?.({ error: error instanceof Error ? `${error.name}: ${error.message}` : String(error) });
  process.disconnect?.();
}
