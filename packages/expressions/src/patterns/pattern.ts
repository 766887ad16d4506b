import { RE2JS } from 're2js';
import { asSentence } from '../messages/error-text.js';
import { readPattern } from './pattern-cost.js';

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

/**
 * What compiling may take, in units of about 10 ns: one new pattern up to 10 ms, the different ones of a new entity schema or
 * contract 25 ms, because the first value that they check may have all of them compiled.
 */
export const PATTERN_COST = { ofOne: 1_000_000, together: 2_500_000 } as const;

/** The cost of a pattern, from reading it alone. */
export const patternCost = (source: string): number =>
  source.length > MAX_PATTERN_LENGTH ? 0 : readPattern(RE2JS.translateRegExp(source)).cost;

/** A pattern that somebody wants to save: one whose cost is too high is not compiled. Never throws. */
export const compileNewPattern = (source: string): PatternResult =>
  patternCost(source) > PATTERN_COST.ofOne
    ? refuse('The pattern is too complex. Use smaller counts in its {…}, and fewer or smaller classes.')
    : compilePattern(source);

/**
 * RE2 syntax (JSON Schema's `\uXXXX` too); lookaround and backreferences do not exist there. Never throws. What was saved
 * before its cost was bounded still compiles.
 */
export function compilePattern(source: string): PatternResult {
  if (source.length > MAX_PATTERN_LENGTH)
    return refuse(`A pattern may have at most ${MAX_PATTERN_LENGTH} characters.`);
  try {
    const { program, size } = compileProgram(RE2JS.translateRegExp(source));
    if (size > MAX_SIZE) return refuse('The pattern is too complex. Use smaller counts in its {…}.');
    const longest = Math.floor(MAX_TEST_WORK / size);
    const test = (text: string): boolean => text.length <= longest && program.test(text);
    return { ok: true, pattern: { source, size, test } };
  } catch (error) {
    return refuse(asSentence(error instanceof Error ? error.message : 'The pattern is not valid'));
  }
}

/** Instructions of an empty group at the beginning. */
const GROUP_SIZE = 3;
/** Programs as small as this may lose the group again, or the pattern. */
const SMALL_SIZE = 8;

/**
 * The engine prepares patterns that begin with `^` for one more way of running, which takes the cube of their length (`^a?b?c?…`
 * of 600 characters: a second). With an empty group before them it does not. The size is that of the pattern alone.
 */
function compileProgram(source: string): { program: RE2JS; size: number } {
  const program = readPattern(source).isClosed ? RE2JS.compile(`()(?:${source})`) : undefined;
  if (program !== undefined && program.programSize() > SMALL_SIZE)
    return { program, size: program.programSize() - GROUP_SIZE };
  const plain = RE2JS.compile(source);
  return { program: plain, size: Math.max(1, plain.programSize()) };
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
