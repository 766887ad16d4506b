import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import type { LiveSearch } from './live-search.js';

const PAGE = '/worlds/$world/deployments/$deployment/live';

/** What one may change of what the address holds; undefined takes a part away. */
export type SearchChange = { readonly [Part in keyof LiveSearch]?: LiveSearch[Part] | undefined };

/** What the address says, and how to change it; small steps leave no trace in the browser's history. */
export function useLiveSearch(): [search: LiveSearch, change: (change: SearchChange) => Promise<void>] {
  const search = useSearch({ from: PAGE });
  const navigate = useNavigate({ from: PAGE });
  const change = useCallback(
    (parts: SearchChange) =>
      navigate({
        search: (before) => Object.fromEntries(Object.entries({ ...before, ...parts }).filter(isPresent)),
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  );
  return [search, change];
}

const isPresent = ([, value]: readonly [string, unknown]): boolean => value !== undefined;
