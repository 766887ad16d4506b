import { type MeterProvider, ValueType } from '@opentelemetry/api';
import { emptyResource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  DataPointType,
  type HistogramMetricData,
  type MetricProducer,
  type ScopeMetrics,
} from '@opentelemetry/sdk-metrics';
import { createOwnHistogram, type OwnHistogram } from './own-histogram.js';

interface Described extends Pick<HistogramMetricData, 'descriptor'> {
  readonly histogram: OwnHistogram;
}

export interface OwnHistograms extends MetricProducer {
  /** The SDK's meters, but for their histograms. */
  meters(sdk: MeterProvider): MeterProvider;
}

/** Histograms that stand on the page as the SDK's own would. */
export function createOwnHistograms(): OwnHistograms {
  const scopes = new Map<string, Map<string, Described>>();
  const histogramsOf = (scope: string) => {
    const named = scopes.get(scope) ?? new Map<string, Described>();
    scopes.set(scope, named);
    return named;
  };
  return {
    meters: (sdk) => ({
      getMeter: (scope, version, options) =>
        Object.assign(sdk.getMeter(scope, version, options), {
          createHistogram: (name: string, { description = '', unit = '' } = {}) => {
            const descriptor = { name, description, unit, valueType: ValueType.DOUBLE };
            const known = histogramsOf(scope).get(name) ?? { descriptor, histogram: createOwnHistogram() };
            histogramsOf(scope).set(name, known);
            return known.histogram;
          },
        }),
    }),
    collect: async () => {
      const scopeMetrics = [...scopes].map(
        ([name, histograms]): ScopeMetrics => ({
          scope: { name },
          metrics: [...histograms.values()]
            .filter(({ histogram }) => histogram.points.length > 0)
            .map(dataOf),
        }),
      );
      return { resourceMetrics: { resource: emptyResource(), scopeMetrics }, errors: [] };
    },
  };
}

const dataOf = ({ descriptor, histogram }: Described): HistogramMetricData => ({
  descriptor,
  aggregationTemporality: AggregationTemporality.CUMULATIVE,
  dataPointType: DataPointType.HISTOGRAM,
  dataPoints: [...histogram.points],
});
