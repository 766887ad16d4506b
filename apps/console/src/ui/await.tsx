import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorNote } from './error-note.js';
import { Progress } from './progress.js';

export interface AwaitProps<T> {
  query: Pick<UseQueryResult<T>, 'data' | 'error' | 'refetch'>;
  /** What is loaded: "the worlds". */
  what: string;
  children: (data: T) => ReactNode;
}

/** What a query answered; until then progress, and if it fails what the API said. */
export function Await<T>({ query: { data, error, refetch }, what, children }: AwaitProps<T>) {
  const note = error && (
    <ErrorNote title={`Could not load ${what}`} error={error} onRetry={() => void refetch()} />
  );
  if (data === undefined) return note ?? <Progress label={`Loading ${what}`} />;
  // What was there before stays, with the error above it.
  return (
    <>
      {note}
      {children(data)}
    </>
  );
}
