import type { z } from 'zod';
import { toPointer } from '../json/json-pointer.js';
import { type FieldProblem, fieldProblem } from './field-problem.js';
import { ServiceError } from './service-error.js';

/** At most this many problems are named in one answer. */
const MAX_PROBLEMS = 20;

export const problemsOf = (error: z.ZodError): FieldProblem[] =>
  error.issues.flatMap(issueProblems).slice(0, MAX_PROBLEMS);

function issueProblems(issue: z.core.$ZodIssue): FieldProblem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) =>
      fieldProblem(toPointer([...issue.path, key]), 'unknown_property', `the property "${key}" is not known`),
    );
  }
  return [fieldProblem(toPointer(issue.path), issue.code, issue.message)];
}

/** Parses or throws `validation_failed` with a pointer per problem. */
export function parseOrRefuse<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const errors = problemsOf(parsed.error);
  const first = errors[0];
  throw new ServiceError('validation_failed', first && `${first.pointer || 'request'}: ${first.message}`, {
    errors,
  });
}
