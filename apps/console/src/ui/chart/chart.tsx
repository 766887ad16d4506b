import { lazy, Suspense } from 'react';
import { Progress } from '../messages.js';
import type { ChartProps } from './plot.js';

const Plot = lazy(() => import('./plot.js'));

/** Numbers over seq or time. A list of the same numbers belongs beside it, for those who do not see it. */
export const Chart = (props: ChartProps) => (
  <Suspense fallback={<Progress label="Drawing" />}>
    <Plot {...props} />
  </Suspense>
);
