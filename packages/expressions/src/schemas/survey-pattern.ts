import { compilePattern } from '../patterns/compile-pattern.js';
import { CONTRACT_LIMITS } from './contract-limits.js';
import { complain, type Survey } from './survey-schema.js';

/** Compiles a pattern once for its document; all of them together are bounded, since compiling them takes time. */
export function surveyPattern(source: string, pointer: string, survey: Survey): void {
  if (survey.patterns.has(source)) return;
  const isFull = programSize(survey) > CONTRACT_LIMITS.patternSize;
  const result =
    isFull || survey.patterns.size >= CONTRACT_LIMITS.patterns ? TOO_MANY : compilePattern(source);
  if (result.ok) survey.patterns.set(source, result.pattern);
  else complain(survey, pointer, result.reason, 'invalid_pattern');
}

const TOO_MANY = { ok: false, reason: 'the patterns of the schema are too many or too large' } as const;

const programSize = ({ patterns }: Survey): number =>
  [...patterns.values()].reduce((total, { size }) => total + size, 0);
