export interface TelemetryOptions {
  /** The name under which the process's spans and metrics appear. */
  readonly service: string;
  /** Whether spans are exported over OTLP; the SDK itself reads its OTEL_… variables. */
  readonly tracing: boolean;
  /** Whether metrics are collected for the metrics page. */
  readonly metrics: boolean;
}

export interface Telemetry extends AsyncDisposable {
  /** The metrics in Prometheus' text format; empty when metrics are off. */
  readonly metricsPage: () => Promise<string>;
}

/**
 * Starts what was asked for and nothing else: the SDKs take a tenth to a third of a second to load, so
 * they are imported only when needed. Meters and tracers come from `createMeter` and `createTracer` and do
 * nothing while telemetry is off; create them after the start.
 */
export async function startTelemetry({ service, tracing, metrics }: TelemetryOptions): Promise<Telemetry> {
  const page = metrics ? await (await import('./metrics-page.js')).startMetrics(service) : undefined;
  const traces = tracing ? await (await import('./trace-export.js')).startTraceExport(service) : undefined;
  return {
    metricsPage: page?.text ?? (async () => ''),
    [Symbol.asyncDispose]: async () => {
      await traces?.[Symbol.asyncDispose]();
      await page?.[Symbol.asyncDispose]();
    },
  };
}
