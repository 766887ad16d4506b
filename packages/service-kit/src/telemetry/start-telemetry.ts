import type { ProcessEnvironment } from '../environment/environment.js';
import { answerInTime, systemClock } from '../timing/clock.js';

interface TelemetryOptions {
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

/** What the variables of the process say about its traces. */
export const tracingOf = (environment: Partial<ProcessEnvironment>) => ({
  tracing: environment.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined,
  usesSampler: environment.OTEL_TRACES_SAMPLER !== undefined,
});

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

/** What a page says of one metric: its help and type, then its samples. */
interface Family {
  readonly about: string[];
  readonly samples: Set<string>;
}

/**
 * Joins pages in Prometheus' text format: all lines of a metric must stand together, and what it is must be said once.
 * A sample that two pages give alike (`target_info`) appears once; other comments count as samples of theirs.
 */
export function mergePages(pages: readonly string[]): string {
  const families = new Map<string, Family>();
  for (const page of pages) addPage(families, page);
  return [...families.values()]
    .flatMap(({ about, samples }) => [...about, ...samples])
    .map((line) => `${line}\n`)
    .join('');
}

function addPage(families: Map<string, Family>, page: string): void {
  let family: Family = { about: [], samples: new Set() };
  let isKnown = false;
  for (const line of page.split('\n')) {
    const [, word, name = ''] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? [];
    if (word === 'HELP') {
      isKnown = families.has(name);
      family = families.get(name) ?? { about: [], samples: new Set() };
      families.set(name, family);
    }
    if (word !== undefined && !isKnown) family.about.push(line);
    if (word === undefined && line !== '') family.samples.add(line);
  }
}
