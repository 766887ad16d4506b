/** Bounds of a template as a whole, checked when it is compiled. One expression's own bounds are in `cel/`. */
export const TEMPLATE_LIMITS = {
  /** Nesting of the template's JSON, as for all JSON from outside. */
  depth: 32,
  /** JSON values in it. */
  values: 10_000,
  /** Characters of all its texts and keys. */
  characters: 262_144,
  placeholders: 1_000,
  /** Characters of all its expressions. */
  expressionCharacters: 65_536,
  /** Parts (names, literals, operators, calls) of all its expressions. */
  expressionNodes: 20_000,
  problems: 20,
} as const;

/** Bounds of one evaluation. */
export interface EvaluationLimits {
  /** Units of about one node of an expression, counted where the amount depends on data. */
  work: number;
  /** JSON values in the result. */
  values: number;
  /** Characters of the result's texts and keys. */
  characters: number;
}

/** About 20 ms at worst; a result fits one journal entry (256 KiB). */
export const EVALUATION_LIMITS: EvaluationLimits = { work: 250_000, values: 50_000, characters: 262_144 };
