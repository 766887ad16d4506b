import { fieldProblem, findUnsafeJson, refusedHttp, ServiceError, toPointer } from '@orrery/contracts';
import type { FastifyRequest } from 'fastify';
import type { RequestSchema } from './request-schema.js';

type RawRequest = Record<'params' | 'query' | 'headers' | 'body', unknown>;

/**
 * The operation's request out of an HTTP request, as it came in. What can be said without the contract is refused
 * here; who answers the operation checks it against the contract, once.
 *
 * @throws ServiceError `validation_failed` or `body_must_be_array`, with pointers.
 */
export function readRequest(http: FastifyRequest, { headers, body }: RequestSchema): RawRequest {
  const request: RawRequest = {
    params: http.params,
    query: http.query,
    headers: pick(http.headers, headers),
    body: http.body ?? (body === 'none' && http.body === undefined ? {} : http.body),
  };
  refuseEmptySegments(request.params);
  refuseUnsafeText({ params: request.params, query: request.query, headers: request.headers });
  refuseRepeated(request.query);
  if (body === 'array' && !Array.isArray(request.body)) throw new ServiceError('body_must_be_array');
  return request;
}

/** `/api/worlds/` names no world: the router fits an empty segment to a parameter, we do not. */
function refuseEmptySegments(params: unknown): void {
  if (Object.values(params as Record<string, string>).includes('')) throw new ServiceError('route_not_found');
}

/** Bodies were walked when they were parsed; U+0000 and half surrogates come in by paths and queries too. */
function refuseUnsafeText(parts: Partial<RawRequest>): void {
  const problem = findUnsafeJson(parts);
  if (problem !== undefined) throw refusedHttp([problem]);
}

/** No operation takes a parameter twice; the query parser makes a list of it. */
function refuseRepeated(query: unknown): void {
  for (const [name, value] of Object.entries(query as Record<string, unknown>)) {
    if (Array.isArray(value))
      throw refusedHttp([fieldProblem(toPointer(['query', name]), 'repeated', 'given more than once')]);
  }
}

function pick(headers: FastifyRequest['headers'], names: readonly string[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const name of names) {
    const value = headers[name];
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}
