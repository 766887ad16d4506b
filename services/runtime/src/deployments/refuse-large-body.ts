import { type ContentLimits, type FieldProblem, fieldProblem, refusal } from '@orrery/contracts';

type BodyLimits = Pick<ContentLimits, 'descriptionBytes' | 'bindingsPerDeployment'>;

interface LargeBody {
  readonly description?: string | null | undefined;
  readonly bindings?: readonly unknown[];
}

/** Holds a body to the operator's limits. @throws ServiceError `validation_failed` with pointers */
export function refuseLargeBody({ description, bindings = [] }: LargeBody, limits: BodyLimits): void {
  const problems = [
    ...descriptionProblems(description ?? '', limits),
    ...listProblems(bindings, '/bindings', limits),
  ];
  if (problems.length > 0) throw refusal(problems, 'The body');
}

/** The same for a body that is a list of bindings. */
export function refuseLongList(bindings: readonly unknown[], limits: BodyLimits): void {
  const problems = listProblems(bindings, '', limits);
  if (problems.length > 0) throw refusal(problems, 'The body');
}

function descriptionProblems(description: string, { descriptionBytes }: BodyLimits): FieldProblem[] {
  if (Buffer.byteLength(description) <= descriptionBytes) return [];
  const message = `A description may have at most ${descriptionBytes / 1024} KiB.`;
  return [fieldProblem('/description', 'too_large', message)];
}

function listProblems(
  bindings: readonly unknown[],
  pointer: string,
  { bindingsPerDeployment: most }: BodyLimits,
): FieldProblem[] {
  if (bindings.length <= most) return [];
  return [fieldProblem(pointer, 'too_big', `A deployment has at most ${most} bindings.`)];
}
