import { lazy, Suspense } from 'react';
import { Progress } from './progress.js';

export interface ChartSeries {
  readonly label: string;
  /** One for each x; null where there is none. */
  readonly values: readonly (number | null)[];
  /** What is said of each x where `values` are drawn on top of another series; `values` by default. */
  readonly own?: readonly (number | null)[] | undefined;
}

export interface ChartProps {
  /** For screen readers: what the chart shows. */
  label: string;
  /** Rising. Of `time`, seconds since 1970; of `day`, those of 00:00 UTC. */
  x: readonly number[];
  xKind: 'seq' | 'time' | 'day';
  series: readonly ChartSeries[];
  kind?: 'line' | 'steps' | 'bars' | undefined;
  /** Pixels. */
  height?: number | undefined;
  /** How a value is written; as it is by default. */
  format?: ((value: number) => string) | undefined;
  /** The x that is marked with a line. */
  marker?: number | undefined;
  /** Called with the x that was clicked. */
  onPick?: ((x: number) => void) | undefined;
}

const Plot = lazy(() => import('./chart/plot.js'));

/** Numbers over seq or time. A list of the same numbers belongs beside it, for those who do not see it. */
export const Chart = (props: ChartProps) => (
  <Suspense fallback={<Progress label="Drawing" />}>
    <Plot {...props} />
  </Suspense>
);
