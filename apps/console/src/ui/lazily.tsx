import { type ComponentType, lazy, Suspense } from 'react';
import { Progress } from './messages.js';

/** A component whose code is loaded once it is shown. */
export function lazily<Props extends object>(
  label: string,
  load: () => Promise<{ default: ComponentType<Props> }>,
) {
  const Loaded: ComponentType<Props> = lazy(load);
  return (props: Props) => (
    <Suspense fallback={<Progress label={label} />}>
      <Loaded {...props} />
    </Suspense>
  );
}

/** Numbers over seq or time. A list of the same numbers belongs beside it, for those who do not see it. */
export const Chart = lazily('Drawing', () => import('./chart.js'));

/** Two JSON values side by side, line by line; below each other where there is no room. */
export const Diff = lazily('Comparing', () => import('./diff.js'));
