import { trace } from '@opentelemetry/api';
import { type Logger as PinoLogger, pino } from 'pino';
import { type LogDestination, textLines, turnWriter } from './destinations.js';
import { redactedPaths } from './redaction.js';

export type Logger = PinoLogger;
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
export type LogFormat = 'json' | 'text';

export interface LoggerOptions {
  readonly service: string;
  readonly level?: LogLevel;
  /** `json` (default) for machines, `text` for a person at a terminal. */
  readonly format?: LogFormat;
  readonly destination?: LogDestination;
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
  const sink = destination ?? turnWriter(pino.destination({ dest: 1, sync: true }));
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
