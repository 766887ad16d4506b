import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { asServiceError, type NamedRpc } from '@orrery/contracts';
import { createMeter, createTracer } from '@orrery/service-kit';

/** What the bus tells about itself: a span and a duration for each call, on both sides. */
export interface Signals {
  called<T>(rpc: NamedRpc, call: () => Promise<T>): Promise<T>;
  answered<T>(rpc: NamedRpc, answer: () => Promise<T>): Promise<T>;
}

/** Without a registered SDK its spans and instruments do nothing. */
export function createSignals(service: string): Signals {
  const tracer = createTracer(service);
  const meter = createMeter(service);
  const durations = meter.createHistogram('orrery_bus_call_duration', { unit: 'ms' });
  const served = meter.createHistogram('orrery_bus_answer_duration', { unit: 'ms' });

  const within = <T>(rpc: NamedRpc, kind: SpanKind, histogram: typeof served, work: () => Promise<T>) =>
    tracer.startActiveSpan(`${rpc.service} ${rpc.name}`, { kind }, async (span) => {
      const startedAt = performance.now();
      let code = 'ok';
      try {
        return await work();
      } catch (error) {
        ({ code } = asServiceError(error));
        span.setStatus({ code: SpanStatusCode.ERROR, message: code });
        throw error;
      } finally {
        histogram.record(performance.now() - startedAt, { rpc: rpc.name, code });
        span.end();
      }
    });
  return {
    called: (rpc, call) => within(rpc, SpanKind.CLIENT, durations, call),
    answered: (rpc, answer) => within(rpc, SpanKind.SERVER, served, answer),
  };
}
