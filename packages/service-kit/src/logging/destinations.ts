/** Where lines go: `process.stdout`, or an array's `push` in a test. */
export interface LogDestination {
  write(line: string): unknown;
}

/** Turns the logger's JSON lines into `14:03:27.123 WARN  catalog message key=value`, stack below. */
export function textLines(sink: LogDestination): LogDestination {
  return { write: (line) => sink.write(toText(line)) };
}

function toText(line: string): string {
  const { time, level, service, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const head = `${String(time).slice(11, 23)} ${String(level).toUpperCase().padEnd(5)} ${String(service)} ${String(msg ?? '')}`;
  const facts = Object.entries(rest).map(([name, value]) => ` ${name}=${inOneWord(value)}`);
  return `${head}${facts.join('')}\n${stackOf(err)}`;
}

function inOneWord(value: unknown): string {
  return typeof value === 'string' && !/[\s"=]/.test(value) ? value : JSON.stringify(value);
}

function stackOf(err: unknown): string {
  const stack = (err as { stack?: unknown } | undefined)?.stack;
  return typeof stack === 'string' ? `${stack.replace(/^/gm, '    ')}\n` : '';
}

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
