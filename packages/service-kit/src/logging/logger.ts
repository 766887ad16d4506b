import { trace } from '@opentelemetry/api';
import { type Logger as PinoLogger, pino } from 'pino';

export type Logger = PinoLogger;
type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
export type LogFormat = 'json' | 'text';

interface LoggerOptions {
  readonly service: string;
  readonly level?: LogLevel;
  /** `json` (default) for machines, `text` for a person at a terminal. */
  readonly format?: LogFormat;
  readonly destination?: LogDestination | undefined;
}

/** The trace that a line belongs to, if one is recorded. */
function traceOf(): object {
  const span = trace.getActiveSpan();
  if (span?.isRecording() !== true) return {};
  const { traceId, spanId } = span.spanContext();
  return { traceId, spanId };
}

/** A structured logger. Members that carry secrets are blanked out; `err` is written with its stack and causes. */
export function createLogger({
  service,
  level = 'info',
  format = 'json',
  destination,
}: LoggerOptions): Logger {
  const sink = destination ?? turnWriter(standardOutput());
  return pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      mixin: traceOf,
      redact: { paths: redactedPaths(), censor: '[redacted]' },
    },
    format === 'text' ? textLines(sink) : sink,
  );
}

/**
 * For lines that are written often and hold nothing secret by construction: looking for secrets takes fifty times as
 * long as writing the line.
 */
export const withoutRedaction = (logger: Logger): Logger => logger.child({}, { redact: { paths: [] } });

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
 * Lines that cannot be written, as on a full disk, are lost, and the service goes on. A new stream takes the next ones: the old
 * one would keep all of them until it can write the first.
 */
function standardOutput(): LogDestination {
  const open = () => pino.destination({ dest: 1, sync: true }).on('error', renew);
  const renew = () => {
    stream = open();
  };
  let stream = open();
  return { write: (text) => stream.write(text) };
}

/**
 * Writes the lines of one turn of the event loop together: a line for each request would otherwise cost the gateway a
 * system call each. A process that ends by itself loses none; one that is killed, those of its last turn.
 */
export function turnWriter(sink: LogDestination): LogDestination {
  let lines = '';
  const flush = () => {
    process.off('exit', flush);
    const text = lines;
    lines = '';
    if (text !== '') sink.write(text);
  };
  return {
    write: (line) => {
      if (lines === '') {
        setImmediate(flush);
        // Of this turn alone: a process may have many loggers.
        process.on('exit', flush);
      }
      lines += line;
    },
  };
}

/** Names whose values never appear in a log line (invariant: no secret in logs). */
const SECRET_NAMES = [
  'authorization',
  'Authorization',
  'cookie',
  'x-payment',
  'X-PAYMENT',
  'payment-signature',
  'PAYMENT-SIGNATURE',
  'token',
  'key',
  'apiKey',
  'privateKey',
  'signerKey',
  'secret',
  'password',
  'signature',
];

/** Deep enough for `{ err: { request: { headers: { authorization } } } }`. */
const DEPTH = 4;

/** The paths that pino blanks out: each secret name at the top and below any member, four levels down. */
export function redactedPaths(): string[] {
  const prefixes = Array.from({ length: DEPTH }, (_, depth) => '*.'.repeat(depth));
  return prefixes.flatMap((prefix) => SECRET_NAMES.map((name) => `${prefix.slice(0, -1)}["${name}"]`));
}
