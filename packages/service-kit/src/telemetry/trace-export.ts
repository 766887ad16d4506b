import { NodeSDK } from '@opentelemetry/sdk-node';

/** Exports spans over OTLP as the OTEL_… variables say. No library is instrumented: spans are our own. */
export async function startTraceExport(service: string): Promise<AsyncDisposable> {
  const sdk = new NodeSDK({
    serviceName: service,
    instrumentations: [],
    metricReaders: [],
    logRecordProcessors: [],
  });
  sdk.start();
  return { [Symbol.asyncDispose]: () => sdk.shutdown() };
}
