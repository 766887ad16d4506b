import {
  type Attributes,
  context,
  createNoopMeter,
  type Meter,
  metrics,
  ProxyTracerProvider,
  propagation,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';

export type { Counter, Histogram, Meter, ObservableGauge, Span, Tracer } from '@opentelemetry/api';

/** The meter of one service; each service keeps its instruments in its `signals.ts`. */
export const createMeter = (service: string): Meter => metrics.getMeter(`orrery.${service}`);

/** The tracer of one service. */
export const createTracer = (service: string): Tracer => trace.getTracer(`orrery.${service}`);

/** Whether spans go anywhere: without an SDK making them is wasted work. */
export function isTraced(): boolean {
  const provider = trace.getTracerProvider();
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer('orrery') !== undefined;
}

/** Whether measurements go anywhere: without an SDK taking them is wasted work. */
export const isMetered = (): boolean => metrics.getMeter('orrery') !== createNoopMeter();

/** The active span, if its trace is recorded, as a `traceparent` (W3C Trace Context). */
export function activeTrace(): string | undefined {
  const span = trace.getActiveSpan()?.spanContext();
  if (span === undefined || (span.traceFlags & TraceFlags.SAMPLED) === 0) return undefined;
  return `00-${span.traceId}-${span.spanId}-01`;
}

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
