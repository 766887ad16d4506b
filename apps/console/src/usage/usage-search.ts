import { defined, wordIn } from '../ui/search-values.js';
import type { Measure } from './usage-series.js';

/** What the address of the page holds. */
export interface UsageSearch {
  /** How many days, today included. */
  days?: number | undefined;
  measure?: Measure | undefined;
}

/** Days; the service sums up 92 at most at once. */
export const RANGES = [7, 30, 90] as const;
export const MEASURES: readonly (readonly [Measure, string])[] = [
  ['usd', 'cost'],
  ['calls', 'requests'],
  ['tokens', 'tokens'],
];

export const readUsageSearch = ({ days, measure }: Record<string, unknown>): UsageSearch =>
  defined({
    days: RANGES.find((range) => range === days),
    measure: wordIn(
      measure,
      MEASURES.map(([word]) => word),
    ),
  });
