import type { FieldProblem } from '@orrery/contracts';

/** Problems of a part, with pointers into the whole. */
export const below = (pointer: string, problems: readonly FieldProblem[]): FieldProblem[] =>
  problems.map((problem) => ({ ...problem, pointer: `${pointer}${problem.pointer}` }));
