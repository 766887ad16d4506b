import type { Pattern } from './compile-pattern.js';

/** What the patterns of one check may still do, in instructions × characters. */
export interface PatternWork {
  left: number;
}

/** About 100 ms at worst; a hundred texts of thirty characters against `^[a-z]{1,255}$` take it up. */
export const patternWork = (): PatternWork => ({ left: 1_500_000 });

/** Tests a text and pays for it; undefined when nothing is left to pay with. */
export function testWithin(pattern: Pattern, text: string, work: PatternWork): boolean | undefined {
  work.left -= pattern.size * (text.length + 1);
  return work.left < 0 ? undefined : pattern.test(text);
}
