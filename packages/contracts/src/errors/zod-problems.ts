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
  // What a rule of ours refuses zod calls "custom", which says nothing to a caller.
  const code = issue.code === 'custom' ? 'invalid' : issue.code;
  return [fieldProblem(toPointer(issue.path), code, messageOf(issue))];
}

/** Requests hold no `undefined`: where zod received it, something is missing. */
function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_type') return issue.message;
  const wanted = issue.expected === 'record' ? 'object' : issue.expected;
  return issue.message.endsWith('received undefined')
    ? `required, but missing: expected ${wanted}`
    : issue.message.replace('expected record', 'expected object');
}

/** Parses or throws `validation_failed` with a pointer per problem. */
export function parseOrRefuse<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw refusal(problemsOf(parsed.error), 'request');
}

/** `validation_failed` with these problems; `whole` names what the empty pointer points to. */
export function refusal(errors: FieldProblem[], whole: string): ServiceError {
  const [first] = errors;
  const detail = first && `${first.pointer || whole}: ${first.message}`;
  return new ServiceError('validation_failed', detail, { errors });
}

/** The body of a request should have been an array (interface §7). */
export const bodyMustBeArray = ({ issues }: z.ZodError): boolean =>
  issues.some(
    ({ code, path, ...issue }) =>
      code === 'invalid_type' &&
      'expected' in issue &&
      issue.expected === 'array' &&
      path.length === 1 &&
      path[0] === 'body',
  );
