import { codePointLength } from '../../cel/values/texts.js';
import type { Pattern } from '../../patterns/compile-pattern.js';
import { testWithin } from '../../patterns/pattern-work.js';
import type { KeywordCompiler } from '../schema-context.js';
import { report, spendOn, TooMuchWork, type Validation } from '../validation.js';

const length =
  (keyword: string, words: string, holds: (length: number, limit: number) => boolean): KeywordCompiler =>
  ({ [keyword]: limit }) => {
    if (typeof limit !== 'number') return undefined;
    const message = `must have ${words} ${limit} characters`;
    return (value, run) => {
      if (typeof value !== 'string') return true;
      spendOn(run, value.length >> 4);
      return holds(codePointLength(value), limit) || report(run, 'wrong_length', message);
    };
  };

/** Tests a pattern and pays for it. */
export function matches(pattern: Pattern, text: string, run: Validation): boolean {
  spendOn(run, 1);
  const outcome = testWithin(pattern, text, run.patterns);
  if (outcome === undefined) throw new TooMuchWork();
  return outcome;
}

const pattern: KeywordCompiler = ({ pattern: source }, { survey }) => {
  const compiled = survey.patterns.get(String(source));
  if (source === undefined || compiled === undefined) return undefined;
  const message = `must match the pattern ${compiled.source.slice(0, 200)}`;
  return (value, run) =>
    typeof value !== 'string' || matches(compiled, value, run) || report(run, 'pattern_mismatch', message);
};

export const texts: readonly KeywordCompiler[] = [
  length('minLength', 'at least', (value, limit) => value >= limit),
  length('maxLength', 'at most', (value, limit) => value <= limit),
  pattern,
];
