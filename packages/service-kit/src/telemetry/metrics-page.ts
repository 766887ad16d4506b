import { metrics } from '@opentelemetry/api';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { startProcessSignals, startThreadSignals } from './process-signals.js';

/** Collects the process's metrics; `text` is the page that Prometheus reads. */
export async function startMetrics({
  service,
  thread,
}: {
  service: string;
  thread?: string | undefined;
}): Promise<AsyncDisposable & { text: () => Promise<string> }> {
  const reader = new PrometheusExporter({ preventServerStart: true });
  const provider = new MeterProvider({
    resource: resourceFromAttributes({ 'service.name': service }),
    readers: [reader],
  });
  metrics.setGlobalMeterProvider(provider);
  const processSignals = thread === undefined ? startProcessSignals() : startThreadSignals(thread);
  const serializer = new PrometheusSerializer();
  return {
    text: async () => serializer.serialize((await reader.collect()).resourceMetrics),
    [Symbol.asyncDispose]: async () => {
      processSignals[Symbol.dispose]();
      metrics.disable();
      await provider.shutdown();
    },
  };
}
