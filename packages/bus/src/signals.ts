import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { asServiceError, type NamedRpc } from '@orrery/contracts';
import { createMeter, createTracer, isTraced } from '@orrery/service-kit';

/** What the bus tells about itself: a span and a duration for each call, on both sides. */
export interface Signals {
  called<T>(rpc: NamedRpc, call: () => Promise<T>): Promise<T>;
  answered<T>(rpc: NamedRpc, answer: () => Promise<T>): Promise<T>;
}

type Watch = <T>(rpc: NamedRpc, kind: SpanKind, work: () => Promise<T>) => Promise<T>;

/** Without a registered SDK its instruments do nothing, and no span is made. */
export function createSignals(service: string): Signals {
  const called = createTimer(service, 'orrery_bus_call_duration');
  const answered = createTimer(service, 'orrery_bus_answer_duration');
  const spanned = isTraced() ? createSpans(service) : unspanned;
  return {
    called: (rpc, call) => spanned(rpc, SpanKind.CLIENT, () => called(rpc, call)),
    answered: (rpc, answer) => spanned(rpc, SpanKind.SERVER, () => answered(rpc, answer)),
  };
}

function createTimer(service: string, name: string) {
  const durations = createMeter(service).createHistogram(name, { unit: 'ms' });
  return async <T>(rpc: NamedRpc, work: () => Promise<T>): Promise<T> => {
    const startedAt = performance.now();
    let code = 'ok';
    try {
      return await work();
    } catch (error) {
      ({ code } = asServiceError(error));
      throw error;
    } finally {
      durations.record(performance.now() - startedAt, { rpc: rpc.name, code });
    }
  };
}

const unspanned: Watch = (_rpc, _kind, work) => work();

function createSpans(service: string): Watch {
  const tracer = createTracer(service);
  return (rpc, kind, work) =>
    tracer.startActiveSpan(`${rpc.service} ${rpc.name}`, { kind }, async (span) => {
      try {
        return await work();
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR, message: asServiceError(error).code });
        throw error;
      } finally {
        span.end();
      }
    });
}
