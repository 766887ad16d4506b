import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { NamedRpc } from '@orrery/contracts';
import { toCallError } from '@orrery/database';
import { createMeter, createTracer, isMetered, isTraced } from '@orrery/service-kit';

/** Telemetry of calls: a span and a duration for each, on both sides. */
export interface Signals {
  called<T>(rpc: NamedRpc, call: () => Promise<T>): Promise<T>;
  answered<T>(rpc: NamedRpc, answer: () => Promise<T>): Promise<T>;
}

type Watch = <T>(rpc: NamedRpc, work: () => Promise<T>) => Promise<T>;

/** Makes no span and takes no time where no SDK would collect it. */
export function createSignals(service: string): Signals {
  const watch = (kind: SpanKind, name: string): Watch => {
    const timed = isMetered() ? createTimer(service, name) : unwatched;
    if (!isTraced()) return timed;
    const spanned = createSpans(service, kind);
    return (rpc, work) => spanned(rpc, () => timed(rpc, work));
  };
  return {
    called: watch(SpanKind.CLIENT, 'orrery_bus_call_duration'),
    answered: watch(SpanKind.SERVER, 'orrery_bus_answer_duration'),
  };
}

const unwatched: Watch = (_rpc, work) => work();

function createTimer(service: string, name: string): Watch {
  const durations = createMeter(service).createHistogram(name, { unit: 'ms' });
  return (rpc, work) => {
    const startedAt = performance.now();
    const note = (code: string) => durations.record(performance.now() - startedAt, { rpc: rpc.name, code });
    const worked = work();
    worked.then(
      () => note('ok'),
      (error: unknown) => note(toCallError(error).code),
    );
    return worked;
  };
}

function createSpans(service: string, kind: SpanKind): Watch {
  const tracer = createTracer(service);
  return (rpc, work) =>
    tracer.startActiveSpan(`${rpc.service} ${rpc.name}`, { kind }, async (span) => {
      try {
        return await work();
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR, message: toCallError(error).code });
        throw error;
      } finally {
        span.end();
      }
    });
}
