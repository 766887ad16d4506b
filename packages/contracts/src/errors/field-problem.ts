/** One thing wrong with one place of a request; `pointer` is RFC 6901 into the body, or `#query/…`, `#path/…`. */
export interface FieldProblem {
  pointer: string;
  code: string;
  message: string;
}

export const fieldProblem = (pointer: string, code: string, message: string): FieldProblem => ({
  pointer,
  code,
  message,
});

/** How many problems one answer tells at most; the others are found when these are mended. */
export const MAX_PROBLEMS = 20;
