import {
  type Attributes,
  context,
  propagation,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { activeTrace } from './instruments.js';

export interface SpanOptions {
  /** Default: the work of this process itself. */
  readonly kind?: keyof typeof SpanKind;
  readonly attributes?: Attributes;
}

/** Does work as a span of the active trace, or of a new one. */
export const inSpan = <T>(
  tracer: Tracer,
  name: string,
  { kind = 'INTERNAL', attributes = {} }: SpanOptions,
  work: () => Promise<T>,
): Promise<T> =>
  tracer.startActiveSpan(name, { kind: SpanKind[kind], attributes }, async (span) => {
    try {
      return await work();
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });

/**
 * Calls another server as a span of the active trace. Without a trace that is recorded no span is made: loops, for
 * instance, leave none. Of the server's address only the host is shown, since the rest may hold a key.
 */
export function inCallSpan<T>(
  tracer: Tracer,
  name: string,
  { url, attributes = {} }: { readonly url: string; readonly attributes?: Attributes },
  call: () => Promise<T>,
): Promise<T> {
  if (activeTrace() === undefined) return call();
  const server = { 'server.address': new URL(url).hostname };
  return inSpan(tracer, name, { kind: 'CLIENT', attributes: { ...attributes, ...server } }, call);
}

/**
 * Does work for several traces (`activeTrace`): as a span of the first of them, which is linked with the others. Without
 * any, no span is made.
 */
export function forTraces<T>(
  tracer: Tracer,
  name: string,
  traces: readonly string[],
  { attributes = {} }: SpanOptions,
  work: () => Promise<T>,
): Promise<T> {
  const [first, ...others] = traces.flatMap((traceparent) => spanOf(traceparent) ?? []);
  if (first === undefined) return outsideTraces(work);
  const options = { attributes, links: others.map((linked) => ({ context: linked })) };
  const parent = trace.setSpanContext(ROOT_CONTEXT, first);
  return context.with(parent, () =>
    tracer.startActiveSpan(name, options, parent, (span) => work().finally(() => span.end())),
  );
}

/**
 * Does work that belongs to no trace, wherever it is started. Where nothing is traced no context is entered: the first one
 * makes Node.js watch every promise of the process.
 */
export const outsideTraces = <T>(work: () => T): T =>
  trace.getActiveSpan() === undefined ? work() : context.with(ROOT_CONTEXT, work);

const spanOf = (traceparent: string): SpanContext | undefined =>
  trace.getSpanContext(propagation.extract(ROOT_CONTEXT, { traceparent }));
