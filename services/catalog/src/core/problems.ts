import {
  cutText,
  didYouMean,
  type ErrorCode,
  type FieldProblem,
  MAX_PROBLEMS,
  ServiceError,
} from '@orrery/contracts';

/** Prefixes the pointers of problems. */
export const below = (pointer: string, problems: readonly FieldProblem[]): FieldProblem[] =>
  problems.map((problem) => ({ ...problem, pointer: `${pointer}${problem.pointer}` }));

/** Problems of one kind, with the code of a refusal for them. */
export interface ProblemKind {
  readonly code: ErrorCode;
  readonly problems: readonly FieldProblem[];
}

/** All problems, the first twenty; the same mistake under the same pointer is told once. Pointers begin with `pointer`. */
export function problemsOfKinds(kinds: readonly ProblemKind[], pointer: string): FieldProblem[] {
  const all = kinds.flatMap(({ problems }) => problems);
  const distinct = new Map(all.map((problem) => [`${problem.pointer} ${problem.message}`, problem]));
  return below(pointer, [...distinct.values()].slice(0, MAX_PROBLEMS));
}

/** @throws ServiceError with the code of the first kind that has problems, and the problems of all kinds */
export function refuseProblems(kinds: readonly ProblemKind[], pointer: string): void {
  const code = kinds.find(({ problems }) => problems.length > 0)?.code;
  const errors = problemsOfKinds(kinds, pointer);
  const [first] = errors;
  if (code !== undefined && first !== undefined)
    throw new ServiceError(code, `${first.pointer}: ${first.message}`, { errors });
}

/** Says that a name is none of the known ones, and which of them may be meant. */
export const noSuch = (owner: string, what: string, name: string, known: readonly string[]): string =>
  `${owner} has no ${what} "${cutText(name, 255)}".${didYouMean(name, known)}`;
