import { lazy, Suspense } from 'react';
import { Progress } from '../messages.js';
import type { DiffProps } from './diff-table.js';

const Rows = lazy(() => import('./diff-table.js'));

/** Two JSON values side by side, line by line; below each other where there is no room. */
export const Diff = (props: DiffProps) => (
  <Suspense fallback={<Progress label="Comparing" />}>
    <Rows {...props} />
  </Suspense>
);
