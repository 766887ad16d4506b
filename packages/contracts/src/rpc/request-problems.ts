import { z } from 'zod';
import { ServiceError } from '../errors/service-error.js';
import { closest, didYouMean, shownValue, writeInstead } from '../errors/wording.js';
import { toPointer } from '../json/json.js';
import { type FieldProblem, fieldProblem, MAX_PROBLEMS, withSuggestions } from '../json/problems.js';

/** How a pointer names a part outside the body; the body's own pointers are plain RFC 6901. */
const PARTS = { body: '', query: '#query', params: '#path', headers: '#header' } as const;

/** The refusal of a body that is no array where one is wanted. */
export const noArray = (): ServiceError =>
  new ServiceError('body_must_be_array', 'The body must be an array, also for one element: [{ … }].');

/** Says what was wrong with an HTTP request by the parts that its sender knows: `/query/page` is `#query/page`. */
export const refusedHttp = (problems: readonly FieldProblem[]): ServiceError =>
  refusal(
    problems.map((problem) => ({ ...problem, pointer: placed(problem.pointer) })),
    'The body',
  );

/** `/query/page` → `#query/page`, `/body/name` → `/name`. */
function placed(pointer: string): string {
  const [, part = '', ...rest] = pointer.split('/');
  const name = PARTS[part as keyof typeof PARTS];
  return name === undefined ? pointer : [name, ...rest].join('/');
}

/** `schema`: what the value was parsed with, for suggestions. `value`: what was parsed, for those who sent it. */
export const problemsOf = (error: z.ZodError, schema?: z.ZodType, value?: unknown): FieldProblem[] =>
  error.issues
    .slice(0, MAX_PROBLEMS)
    .flatMap((issue) => issueProblems(issue, schema, value))
    .slice(0, MAX_PROBLEMS);

/** Found by its path, since zod tells it only of a parsing with other options, which would be a second one. */
const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((inner, step) => (hasOwn(inner, step) ? inner[step] : undefined), value);

const hasOwn = (value: unknown, step: PropertyKey): value is Record<PropertyKey, unknown> =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, step);

function issueProblems(
  issue: z.core.$ZodIssue,
  schema: z.ZodType | undefined,
  value: unknown,
): FieldProblem[] {
  if (issue.code === 'unrecognized_keys') {
    const known = knownProperties(schema, issue.path);
    return issue.keys.slice(0, MAX_PROBLEMS).map((key) => {
      const at = toPointer([...issue.path, key]);
      return fieldProblem(
        at,
        'unknown_property',
        unknownProperty(key, known),
        writeInstead(closest(key, known)),
      );
    });
  }
  // What a rule of ours refuses zod calls "custom", which says nothing to a caller.
  const code = issue.code === 'custom' ? 'invalid' : issue.code;
  return [
    fieldProblem(toPointer(issue.path), code, messageOf(issue, issue.input ?? valueAt(value, issue.path))),
  ];
}

/** Longer lists are looked up in the reference. */
const MAX_LISTED = 12;

function unknownProperty(key: string, known: readonly string[]): string {
  const meant = didYouMean(key, known);
  const isShort = known.length > 0 && known.length <= MAX_LISTED;
  const all = meant === '' && isShort ? ` Known here: ${known.join(', ')}.` : '';
  return `The property "${key}" is not known.${meant}${all}`;
}

function messageOf(issue: z.core.$ZodIssue, input: unknown): string {
  if (issue.code === 'invalid_type') return wrongType(issue, input);
  if (input === undefined) return sentence(issue.message);
  const found = `found ${shownValue(input)}.`;
  if (issue.code === 'too_small' || issue.code === 'too_big') return `${issue.message}; ${found}`;
  if (issue.code !== 'invalid_value') return sentence(issue.message);
  if (typeof input !== 'string') return `${issue.message}; ${found}`;
  const allowed = issue.values.filter((value) => typeof value === 'string');
  return `${issue.message}; ${found}${didYouMean(input, allowed)}`;
}

/** Requests hold no `undefined`: where zod received it, something is missing. */
function wrongType(issue: z.core.$ZodIssueInvalidType, input: unknown): string {
  const wanted = String(issue.expected) === 'record' ? 'object' : issue.expected;
  if (issue.message.endsWith('received undefined')) return `Required, but missing: expected ${wanted}.`;
  return input === undefined
    ? sentence(issue.message.replace('expected record', 'expected object'))
    : `Expected ${wanted}; found ${shownValue(input)}.`;
}

/** The messages of zod itself have no full stop. */
const sentence = (message: string): string => (message.endsWith('.') ? message : `${message}.`);

/** `validation_failed` with these problems; `whole` names what the empty pointer points to. */
export function refusal(problems: readonly FieldProblem[], whole: string): ServiceError {
  const errors = withSuggestions(problems);
  const [first] = errors;
  const detail = first && `${first.pointer || whole}: ${first.message}`;
  return new ServiceError('validation_failed', detail, { errors });
}

/** The body of a request should have been an array. */
export const bodyMustBeArray = ({ issues }: z.ZodError): boolean =>
  issues.some(
    ({ code, path, ...issue }) =>
      code === 'invalid_type' &&
      'expected' in issue &&
      issue.expected === 'array' &&
      path.length === 1 &&
      path[0] === 'body',
  );

/** The names of the properties that a schema declares at a path; none where it is no object with fixed properties. */
export function knownProperties(schema: unknown, path: readonly PropertyKey[]): string[] {
  if (schema instanceof z.ZodPipe) return knownProperties(schema.in, path);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => knownProperties(option, path));
  if (isWrapper(schema)) return knownProperties(schema.unwrap(), path);
  const [key, ...rest] = path;
  if (schema instanceof z.ZodObject)
    return key === undefined ? Object.keys(schema.shape) : knownProperties(schema.shape[String(key)], rest);
  if (key === undefined) return [];
  if (schema instanceof z.ZodArray) return knownProperties(schema.element, rest);
  return schema instanceof z.ZodRecord ? knownProperties(schema.valueType, rest) : [];
}

const isWrapper = (schema: unknown): schema is z.ZodOptional | z.ZodNullable | z.ZodDefault =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault;
