import { monitorEventLoopDelay } from 'node:perf_hooks';
import { metrics } from '@opentelemetry/api';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AggregationTemporality, InstrumentType, MeterProvider } from '@opentelemetry/sdk-metrics';
import { createMeter } from './instruments.js';

/** Collects the process's metrics; `text` is the page that Prometheus reads. */
export async function startMetrics({
  service,
  thread,
}: {
  service: string;
  thread?: string | undefined;
}): Promise<AsyncDisposable & { text: () => Promise<string> }> {
  const reader = new CurrentGauges({ preventServerStart: true });
  const provider = new MeterProvider({
    resource: resourceFromAttributes({ 'service.name': service }),
    readers: [reader],
  });
  metrics.setGlobalMeterProvider(provider);
  const processSignals = thread === undefined ? startProcessSignals() : startThreadSignals(thread);
  const serializer = new PrometheusSerializer();
  let collecting: Promise<string> | undefined;
  const collect = async () => serializer.serialize((await reader.collect()).resourceMetrics);
  return {
    // Of two collections at once the first would take what both observe.
    text: () => {
      collecting ??= collect().finally(() => {
        collecting = undefined;
      });
      return collecting;
    },
    [Symbol.asyncDispose]: async () => {
      processSignals[Symbol.dispose]();
      metrics.disable();
      await provider.shutdown();
    },
  };
}

/** What a gauge does not observe any more is not told any more; the SDK would repeat its last value for ever. */
class CurrentGauges extends PrometheusExporter {
  override selectAggregationTemporality(type: InstrumentType): AggregationTemporality {
    const isObserved = type === InstrumentType.OBSERVABLE_GAUGE;
    return isObserved ? AggregationTemporality.DELTA : AggregationTemporality.CUMULATIVE;
  }
}

const NANOSECONDS = 1e9;
/** Every 10 ms, as is the default, costs each process a hundredth of a core; a delay that matters shows in this too. */
const SAMPLING_MS = 50;

/** Gauges of the process itself: how late its event loop runs, and what memory it holds. */
export function startProcessSignals(): Disposable {
  createMeter('process')
    .createObservableGauge('orrery_resident_memory', { unit: 'By' })
    .addCallback((result) => result.observe(process.memoryUsage.rss()));
  return watchEventLoop({});
}

/** The gauge of a thread beside the main one, whose memory is the process's. */
export const startThreadSignals = (thread: string): Disposable => watchEventLoop({ thread });

function watchEventLoop(labels: { thread?: string }): Disposable {
  const delay = monitorEventLoopDelay({ resolution: SAMPLING_MS });
  delay.enable();
  createMeter('process')
    .createObservableGauge('orrery_event_loop_delay_p99', {
      unit: 's',
      description: 'since the last reading',
    })
    .addCallback((result) => {
      result.observe(delay.percentile(99) / NANOSECONDS, labels);
      delay.reset();
    });
  return { [Symbol.dispose]: () => void delay.disable() };
}
