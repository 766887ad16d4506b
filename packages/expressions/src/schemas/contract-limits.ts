/** Bounds of a contract, checked when it is compiled, and of one check. */
export const CONTRACT_LIMITS = {
  /** Characters of the schema as JSON. */
  characters: 65_536,
  /** Schemas inside it, itself included. */
  schemas: 1_000,
  patterns: 100,
  /** Instructions of all its patterns: about 10 ms of compiling. */
  patternSize: 10_000,
  problems: 20,
  /** Units of about one keyword: about 20 ms at worst. Patterns have a budget of their own. */
  work: 400_000,
  /** Schemas inside one another while checking; references make them nest deeper than the value does. */
  depth: 500,
} as const;
