import {
  createNoopMeter,
  type Meter,
  metrics,
  ProxyTracerProvider,
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
