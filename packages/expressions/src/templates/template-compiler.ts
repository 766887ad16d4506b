import { type FieldProblem, fieldProblem } from '@orrery/contracts';
import { type ExpressionCompiler, expressionCompiler } from '../cel/compile-expression.js';

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

/** State of compiling one template: the problems so far, and what is left of the limits. */
export interface TemplateCompiler {
  readonly expressions: ExpressionCompiler;
  readonly problems: FieldProblem[];
  readonly left: { values: number; characters: number; placeholders: number; expressionCharacters: number };
  /** Set when the compilation ends early. */
  stopped: boolean;
}

export const templateCompiler = (names: readonly string[]): TemplateCompiler => ({
  expressions: expressionCompiler(names, TEMPLATE_LIMITS.expressionNodes),
  problems: [],
  left: { ...TEMPLATE_LIMITS },
  stopped: false,
});

export function addProblem(compiler: TemplateCompiler, pointer: string, code: string, message: string): void {
  compiler.problems.push(fieldProblem(pointer, code, message));
  if (compiler.problems.length >= TEMPLATE_LIMITS.problems) compiler.stopped = true;
}

/** Counts a value or a key against the template's size; false ends the compilation. */
export function countPart(
  compiler: TemplateCompiler,
  pointer: string,
  depth: number,
  characters: number,
): boolean {
  compiler.left.values -= 1;
  compiler.left.characters -= characters;
  if (compiler.stopped) return false;
  const fits = compiler.left.values >= 0 && compiler.left.characters >= 0 && depth <= TEMPLATE_LIMITS.depth;
  if (fits) return true;
  addProblem(compiler, pointer, 'template_too_large', 'The template is too large or nested too deeply.');
  compiler.stopped = true;
  return false;
}
