import type { Meter } from '@opentelemetry/api';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { describe, expect, it } from 'vitest';
import { createOwnHistogram } from './own-histogram.js';
import { createOwnHistograms } from './own-histograms.js';

/** The page of the SDK alone, and that with our histograms, after the same was recorded to both. */
async function pages(record: (meter: Meter) => void): Promise<string[][]> {
  const own = createOwnHistograms();
  const texts = [];
  for (const ours of [false, true]) {
    const reader = new PrometheusExporter({ preventServerStart: true, metricProducers: ours ? [own] : [] });
    const provider = new MeterProvider({ readers: [reader] });
    record((ours ? own.meters(provider) : provider).getMeter('orrery.test'));
    const { resourceMetrics } = await reader.collect();
    texts.push(new PrometheusSerializer().serialize(resourceMetrics).split('\n'));
  }
  return texts;
}

describe('our own histograms', () => {
  it('stand on the page as those of the SDK, by whatever order of labels and however often they are made', async () => {
    const [expected, found] = await pages((meter) => {
      const [first, same] = [1, 2].map(() =>
        meter.createHistogram('orrery_duration', { unit: 'ms', description: 'how long' }),
      );
      for (const value of [0, 0.2, 5, 5.1, 99, 10_000, 10_001, Number.NaN]) {
        first?.record(value, { route: '/a"b\\', status: 200 });
        same?.record(value, { status: 200, route: '/a"b\\' });
        first?.record(value, { route: '/c', status: 404 });
        first?.record(value);
      }
      meter.createHistogram('orrery_silent');
    });
    expect(found).toEqual(expected);
    expect(found).toContainEqual(expect.stringMatching(/^orrery_duration_count\{route="\/c".*\} 7$/));
  });

  it('count together what has more sets of labels than are kept', () => {
    const histogram = createOwnHistogram();
    for (let route = 0; route < 2100; route += 1) histogram.record(1, { route });
    expect(histogram.points).toHaveLength(2001);
    expect(histogram.points.at(-1)).toMatchObject({
      attributes: { 'otel.metric.overflow': true },
      value: { count: 100 },
    });
  });
});
