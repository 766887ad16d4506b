import { lazy, Suspense } from 'react';
import { Progress } from './progress.js';

export interface DiffProps {
  /** For screen readers: what is compared. */
  label: string;
  /** Undefined: it was not there. */
  left: unknown;
  right: unknown;
  /** What stands above each side. */
  titles?: readonly [left: string, right: string] | undefined;
  /** Leaves out what is the same, but for what surrounds a difference. */
  onlyChanges?: boolean | undefined;
}

const Rows = lazy(() => import('./diff/diff-table.js'));

/** Two JSON values side by side, line by line; below each other where there is no room. */
export const Diff = (props: DiffProps) => (
  <Suspense fallback={<Progress label="Comparing" />}>
    <Rows {...props} />
  </Suspense>
);
