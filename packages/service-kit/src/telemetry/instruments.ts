import { type Meter, metrics, type Tracer, trace } from '@opentelemetry/api';

export type { Counter, Histogram, Meter, ObservableGauge, Span, Tracer } from '@opentelemetry/api';

/** The meter of one service; each service keeps its instruments in its `signals.ts`. */
export const createMeter = (service: string): Meter => metrics.getMeter(`orrery.${service}`);

/** The tracer of one service. */
export const createTracer = (service: string): Tracer => trace.getTracer(`orrery.${service}`);
