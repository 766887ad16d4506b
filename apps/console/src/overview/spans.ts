import type { Overview } from '../api/records.js';

/** What an overview looks back on. */
export type Span = Overview['of'];
export const SPAN_NAMES = ['hour', 'day', 'month'] as const satisfies readonly Span[];
