import type { FieldProblem } from '@orrery/contracts';

/** Where a version's template stands in its definition. */
export const TEMPLATE = '/mutationSettings/template';

/** Prefixes the pointers of problems. */
export const below = (pointer: string, problems: readonly FieldProblem[]): FieldProblem[] =>
  problems.map((problem) => ({ ...problem, pointer: `${pointer}${problem.pointer}` }));
