import { answerInTime } from '../timing/answer-in-time.js';
import { systemClock } from '../timing/clock.js';
import { mergePages } from './merge-pages.js';

export interface TelemetryOptions {
  /** The name under which the process's spans and metrics appear. */
  readonly service: string;
  /** Whether spans are exported over OTLP; the SDK itself reads its OTEL_… variables. */
  readonly tracing: boolean;
  /** Whether its variables name a sampler. Default: one trace in a hundred. */
  readonly usesSampler?: boolean;
  /** Whether metrics are collected for the metrics page. */
  readonly metrics: boolean;
  /** The thread of the process, when it is not the main one: labels metrics that would otherwise appear twice. */
  readonly thread?: string;
}

export interface Telemetry extends AsyncDisposable {
  /** The metrics in Prometheus' text format; empty when metrics are off. */
  readonly metricsPage: () => Promise<string>;
  /** Puts the metrics of another thread on the page, if they come in time; returns how to take them away again. */
  readonly include: (page: () => Promise<string>) => () => void;
}

/**
 * Starts only what the options enable: the SDKs take a tenth to a third of a second to load, so
 * they are imported only when needed. Meters and tracers come from `createMeter` and `createTracer` and do
 * nothing while telemetry is off; create them after the start.
 */
export async function startTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { service, tracing, metrics } = options;
  const page = metrics ? await (await import('./metrics-page.js')).startMetrics(options) : undefined;
  const traces = tracing
    ? await (await import('./trace-export.js')).startTraceExport(service, options.usesSampler ?? false)
    : undefined;
  const pages = new Set(page === undefined ? [] : [page.text]);
  return {
    metricsPage: async () => mergePages(await Promise.all([...pages].map((text) => text()))),
    include: (other) => {
      const inTime = () => orNothing(other);
      pages.add(inTime);
      return () => pages.delete(inTime);
    },
    [Symbol.asyncDispose]: async () => {
      await traces?.[Symbol.asyncDispose]();
      await page?.[Symbol.asyncDispose]();
    },
  };
}

/** How long another thread's page is waited for, in milliseconds. */
const PATIENCE_MS = 1500;

/** The metrics of this thread are reported even when another thread does not answer. */
const orNothing = (page: () => Promise<string>): Promise<string> =>
  answerInTime(page, { clock: systemClock, timeoutMs: PATIENCE_MS, late: () => '', failed: () => '' });
