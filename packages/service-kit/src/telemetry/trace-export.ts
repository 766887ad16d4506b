import { context, propagation, trace } from '@opentelemetry/api';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { ParentBasedSampler, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace';

/** Of the traces that begin here, this share is recorded unless the operator says otherwise. */
const SHARE = 0.01;

/**
 * Exports spans over OTLP as the OTEL_… variables say, by default one trace in a hundred. No library is instrumented: spans
 * are our own.
 */
export async function startTraceExport(service: string, usesSampler: boolean): Promise<AsyncDisposable> {
  const sdk = new NodeSDK({
    serviceName: service,
    // With a sampler named, the SDK reads its variables by itself.
    ...(!usesSampler && { sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(SHARE) }) }),
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
