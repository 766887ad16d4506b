import type { KeywordCompiler } from '../schema-context.js';
import { report } from '../validation.js';

/** A keyword with a number that bounds numbers. */
const bound =
  (keyword: string, words: string, holds: (value: number, limit: number) => boolean): KeywordCompiler =>
  ({ [keyword]: limit }) => {
    if (typeof limit !== 'number') return undefined;
    const message = `must be ${words} ${limit}`;
    return (value, run) =>
      typeof value !== 'number' || holds(value, limit) || report(run, 'out_of_range', message);
  };

/** Decimal fractions are not exact in doubles: 0.3 is a multiple of 0.1. */
function isMultiple(value: number, of: number): boolean {
  const quotient = value / of;
  return Math.abs(quotient - Math.round(quotient)) <= Math.abs(quotient) * 4 * Number.EPSILON;
}

export const numbers: readonly KeywordCompiler[] = [
  bound('minimum', 'at least', (value, limit) => value >= limit),
  bound('maximum', 'at most', (value, limit) => value <= limit),
  bound('exclusiveMinimum', 'greater than', (value, limit) => value > limit),
  bound('exclusiveMaximum', 'less than', (value, limit) => value < limit),
  bound('multipleOf', 'a multiple of', isMultiple),
];
