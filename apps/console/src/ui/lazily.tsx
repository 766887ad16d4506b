import { type ComponentType, lazy, type ReactNode, Suspense, useState } from 'react';
import { Progress } from './messages.js';
import { loaded, loadedAnew, PartBoundary } from './not-loaded.js';

interface Words {
  /** "The editor". */
  what: string;
  /** What is said meanwhile: "Loading the editor". */
  meanwhile: string;
}

/** A component whose code is loaded once it is shown. */
export function lazily<Props extends object>(
  words: Words,
  load: () => Promise<{ default: ComponentType<Props> }>,
) {
  const part: { now: ComponentType<Props> } = { now: lazy(() => loaded(load)) };
  const again = () => {
    part.now = lazy(() => loadedAnew(load));
  };
  return (props: Props) => (
    <Retried {...words} onRetry={again}>
      {() => <part.now {...props} />}
    </Retried>
  );
}

interface RetriedProps extends Words {
  onRetry: () => void;
  children: () => ReactNode;
}

function Retried({ what, meanwhile, onRetry, children }: RetriedProps) {
  const [tries, setTries] = useState(0);
  const retry = () => {
    onRetry();
    setTries(tries + 1);
  };
  return (
    <PartBoundary key={tries} what={what} onRetry={retry}>
      <Suspense fallback={<Progress label={meanwhile} />}>{children()}</Suspense>
    </PartBoundary>
  );
}

/** Numbers over seq or time. A list of the same numbers belongs beside it, for those who do not see it. */
export const Chart = lazily({ what: 'The chart', meanwhile: 'Drawing' }, () => import('./chart.js'));

/** Two JSON values side by side, line by line; below each other where there is no room. */
export const Diff = lazily({ what: 'The comparison', meanwhile: 'Comparing' }, () => import('./diff.js'));
