import type { OrderValue } from '@orrery/expressions';

/** What an index stores of a value: rows of it compare as values do in an order. What a kind has not is 0 or empty. */
export interface IndexedValue {
  readonly kind: number;
  readonly number: number;
  readonly text: string;
}

/** The kind of what is missing, behind all others. */
export const MISSING = 3;

export function indexedValue(value: OrderValue): IndexedValue {
  if (typeof value === 'string') return { kind: 1, number: 0, text: value };
  if (value === null) return { kind: MISSING, number: 0, text: '' };
  // -0 and 0 are one number.
  return { kind: typeof value === 'number' ? 0 : 2, number: Number(value) + 0, text: '' };
}
