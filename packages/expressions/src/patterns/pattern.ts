import { RE2JS } from 're2js';
import { asSentence } from '../messages/error-text.js';

/** A user's regular expression on a linear-time engine. */
export interface Pattern {
  readonly source: string;
  /** Instructions of its program: what a character of text costs at worst. */
  readonly size: number;
  /** Whether the pattern occurs anywhere in the text (anchor with `^` and `$`). Texts beyond the bound never match. */
  test(text: string): boolean;
}

export type PatternResult = { ok: true; pattern: Pattern } | { ok: false; reason: string };

/** Characters of a pattern. */
export const MAX_PATTERN_LENGTH = 1_000;
/** Instructions: `^[a-z]{1,255}$` has 513. */
const MAX_SIZE = 1_180;
/**
 * Instructions × characters of one test, about 50 ms at worst. With a program of `size` a text may have 700,000 / size
 * characters, which is never less than what a pattern of that size can count to (`.{0,n}` has 2n instructions).
 */
const MAX_TEST_WORK = 700_000;

/** RE2 syntax (JSON Schema's `\uXXXX` too); lookaround and backreferences do not exist there. Never throws. */
export function compilePattern(source: string): PatternResult {
  if (source.length > MAX_PATTERN_LENGTH)
    return refuse(`A pattern may have at most ${MAX_PATTERN_LENGTH} characters.`);
  try {
    const program = RE2JS.compile(RE2JS.translateRegExp(source));
    const size = Math.max(1, program.programSize());
    if (size > MAX_SIZE) return refuse('The pattern is too complex. Use smaller counts in its {…}.');
    const longest = Math.floor(MAX_TEST_WORK / size);
    const test = (text: string): boolean => text.length <= longest && program.test(text);
    return { ok: true, pattern: { source, size, test } };
  } catch (error) {
    return refuse(asSentence(error instanceof Error ? error.message : 'The pattern is not valid'));
  }
}

const refuse = (reason: string): PatternResult => ({ ok: false, reason });

/** What the patterns of one check, or of several that share it, may still do, in instructions × characters. */
export interface PatternWork {
  left: number;
}

/** About 30 ms at worst; a hundred texts of thirty characters against `^[a-z]{1,255}$` use it up. */
export const PATTERN_WORK = 1_500_000;

/** Charges for testing a text, then tests it; undefined when the work is used up. */
export function testWithin(pattern: Pattern, text: string, work: PatternWork): boolean | undefined {
  work.left -= pattern.size * (text.length + 1);
  return work.left < 0 ? undefined : pattern.test(text);
}
