import type { LogDestination } from './create-logger.js';

/**
 * Writes the lines of one turn of the event loop together: a line for each request would otherwise cost the gateway a
 * system call each. A process that ends by itself loses none; one that is killed, those of its last turn.
 */
export function turnWriter(sink: LogDestination): LogDestination {
  let lines = '';
  const flush = () => {
    const text = lines;
    lines = '';
    if (text !== '') sink.write(text);
  };
  process.on('exit', flush);
  return {
    write: (line) => {
      if (lines === '') setImmediate(flush);
      lines += line;
    },
  };
}
