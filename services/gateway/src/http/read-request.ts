import { type FieldProblem, findUnsafeJson, problemsOf, ServiceError } from '@orrery/contracts';
import type { FastifyRequest } from 'fastify';
import type { RequestSchema } from './request-schema.js';

/** How a pointer names a place outside the body; the body's own pointers are plain RFC 6901. */
const PLACES = { body: '', query: '#query', params: '#path', headers: '#header' } as const;

type RawRequest = Record<keyof typeof PLACES, unknown>;

/**
 * The operation's request out of an HTTP request, checked against the contract. What goes on is what came in: the
 * serving side parses it again, so transforms run once.
 *
 * @throws ServiceError `validation_failed` or `body_must_be_array`, with pointers.
 */
export function readRequest(http: FastifyRequest, { schema, headers, body }: RequestSchema): RawRequest {
  const request: RawRequest = {
    params: http.params,
    query: http.query,
    headers: pick(http.headers, headers),
    body: http.body ?? (body === 'none' && http.body === undefined ? {} : http.body),
  };
  refuseEmptySegments(request.params);
  refuseUnsafeText({ params: request.params, query: request.query, headers: request.headers });
  if (body === 'array' && !Array.isArray(request.body)) throw new ServiceError('body_must_be_array');
  const parsed = schema.safeParse(request);
  if (!parsed.success) throw refusal(problemsOf(parsed.error));
  return request;
}

/** `/api/worlds/` names no world: the router fits an empty segment to a parameter, we do not. */
function refuseEmptySegments(params: unknown): void {
  if (Object.values(params as Record<string, string>).includes('')) throw new ServiceError('route_not_found');
}

/** Bodies were walked when they were parsed; U+0000 and half surrogates come in by paths and queries too. */
function refuseUnsafeText(parts: Partial<RawRequest>): void {
  const problem = findUnsafeJson(parts);
  if (problem !== undefined) throw refusal([problem]);
}

function refusal(problems: FieldProblem[]): ServiceError {
  const errors = problems.map((problem) => ({ ...problem, pointer: placed(problem.pointer) }));
  const first = errors[0];
  const detail = first && `${first.pointer || 'the body'}: ${first.message}`;
  return new ServiceError('validation_failed', detail, { errors });
}

/** `/query/page` → `#query/page`, `/body/name` → `/name`. */
function placed(pointer: string): string {
  const [, part = '', ...rest] = pointer.split('/');
  const place = PLACES[part as keyof typeof PLACES];
  return place === undefined ? pointer : [place, ...rest].join('/');
}

function pick(headers: FastifyRequest['headers'], names: readonly string[]): Record<string, unknown> {
  const present = names.filter((name) => headers[name] !== undefined);
  return Object.fromEntries(present.map((name) => [name, headers[name]]));
}
