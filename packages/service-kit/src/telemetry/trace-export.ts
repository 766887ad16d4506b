import { context, propagation, trace } from '@opentelemetry/api';
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
  return {
    [Symbol.asyncDispose]: async () => {
      // The SDK leaves behind what it has registered for the process.
      for (const global of [trace, context, propagation]) global.disable();
      await sdk.shutdown();
    },
  };
}
