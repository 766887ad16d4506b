/** A service that does nothing, as a process of its own. It tells its parent when it has written to both outputs. */
import { setImmediate as turn } from 'node:timers/promises';
import { runService } from '../src/index.js';

await runService({
  name: 'idle',
  env: process.env,
  start: async ({ logger }) => {
    for (const stream of [process.stdout, process.stderr]) stream.write('a text\n');
    logger.info('a line');
    await turn();
    logger.info('another line');
    // The lines of a turn are written at its end.
    setImmediate(() => setImmediate(() => process.send?.('written to')));
    return { [Symbol.asyncDispose]: async () => undefined };
  },
});
