import type { FieldProblem } from '../errors/field-problem.js';
import { ServiceError } from '../errors/service-error.js';
import { bodyMustBeArray, problemsOf, refusal } from '../errors/zod-problems.js';
import type { RequestOf, Rpc } from './rpc.js';

/** How a pointer names a place outside the body; the body's own pointers are plain RFC 6901. */
const PLACES = { body: '', query: '#query', params: '#path', headers: '#header' } as const;

/** The request as the RPC's schema makes it. @throws ServiceError `validation_failed` or `body_must_be_array`, with pointers. */
export function parseRequest<R extends Rpc>(rpc: R, request: unknown): RequestOf<R> {
  const parsed = rpc.request.safeParse(request);
  if (parsed.success) return parsed.data as RequestOf<R>;
  const problems = problemsOf(parsed.error);
  if (rpc.http === undefined) throw refusal(problems, 'request');
  if (bodyMustBeArray(parsed.error)) throw new ServiceError('body_must_be_array');
  throw refusedHttp(problems);
}

/** Says what was wrong with an HTTP request by the places that its sender knows: `/query/page` is `#query/page`. */
export const refusedHttp = (problems: readonly FieldProblem[]): ServiceError =>
  refusal(
    problems.map((problem) => ({ ...problem, pointer: placed(problem.pointer) })),
    'the body',
  );

/** `/query/page` → `#query/page`, `/body/name` → `/name`. */
function placed(pointer: string): string {
  const [, part = '', ...rest] = pointer.split('/');
  const place = PLACES[part as keyof typeof PLACES];
  return place === undefined ? pointer : [place, ...rest].join('/');
}
