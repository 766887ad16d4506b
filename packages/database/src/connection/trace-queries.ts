import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { createTracer } from '@orrery/service-kit';
import type pg from 'pg';

/** Longer statements are cut. They hold no values: these are sent apart. */
const MAX_TEXT = 1000;

type Query = (...args: unknown[]) => unknown;

/**
 * Makes a span of each statement that runs as a part of a recorded trace, by the names of OpenTelemetry's conventions for
 * databases. Others, such as those of loops, leave none.
 */
export function traceQueries(client: pg.ClientBase, schema: string): void {
  const tracer = createTracer('database');
  const query = client.query.bind(client) as Query;
  const traced: Query = (...args) => {
    if (trace.getActiveSpan()?.isRecording() !== true) return query(...args);
    const text = textOf(args[0]);
    const attributes = {
      'db.system.name': 'postgresql',
      'db.namespace': schema,
      'db.query.text': text.slice(0, MAX_TEXT),
    };
    const span = tracer.startSpan(operationOf(text), { kind: SpanKind.CLIENT, attributes });
    const end = (error?: unknown) => {
      if (error) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    };
    return ended(query, args, end);
  };
  client.query = traced as typeof client.query;
}

/** The driver answers with a callback, a promise, or an object that the caller drives. */
function ended(query: Query, args: unknown[], end: (error?: unknown) => void): unknown {
  const last = args.at(-1);
  if (typeof last === 'function') {
    const answer = (...answers: unknown[]) => {
      end(answers[0]);
      return last(...answers);
    };
    return query(...args.slice(0, -1), answer);
  }
  const result = query(...args);
  if (result instanceof Promise) result.then(() => end(), end);
  else end();
  return result;
}

const textOf = (statement: unknown): string =>
  typeof statement === 'string'
    ? statement
    : String((statement as { text?: string } | undefined)?.text ?? '');

/** `select`, `with`, `begin`: what the span is called. */
const operationOf = (text: string): string => /^\s*(\w+)/.exec(text)?.[1]?.toLowerCase() ?? 'statement';
