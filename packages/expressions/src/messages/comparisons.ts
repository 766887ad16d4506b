/** How many names the suggestions of one check, or of several that share it, may still be looked for among. */
export interface Comparisons {
  left: number;
}

/** About 10 ms at worst, for names of 64 characters. Among fifty names all problems that are told have suggestions. */
export const COMPARISONS = 1_000;

/** The names that a suggestion may be looked for among: all, or none where they are too many by now. */
export function comparable(names: readonly string[], comparisons: Comparisons): readonly string[] {
  if (names.length > comparisons.left) return [];
  comparisons.left -= names.length;
  return names;
}
