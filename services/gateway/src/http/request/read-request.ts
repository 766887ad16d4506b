import { isUtf8 } from 'node:buffer';
import {
  fieldProblem,
  findUnsafeJson,
  noArray,
  refusedHttp,
  ServiceError,
  toPointer,
} from '@orrery/contracts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RequestSchema } from '../../operations/request-schema.js';
import { findJsonFault } from './find-json-fault.js';

type RawRequest = Record<'params' | 'query' | 'headers' | 'body', unknown>;

/**
 * Makes JSON the only accepted body. An empty body counts as absent, whatever its content type: DELETE requests and
 * actions are often sent that way.
 */
export function acceptJsonOnly(app: FastifyInstance, maxDepth: number): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    (request: FastifyRequest, bytes: Buffer, done: (error: Error | null, body?: unknown) => void) => {
      let body: unknown;
      try {
        body = bytes.length === 0 ? undefined : parseJsonBody(request.headers, bytes, maxDepth);
      } catch (error) {
        return done(error as Error);
      }
      done(null, body);
    },
  );
}

/** More values in one body would take long to check; no operation needs as many. */
const MAX_VALUES = 100_000;

/**
 * @throws ServiceError `unsupported_media_type`, `invalid_json`, or `validation_failed` for what no service accepts.
 */
function parseJsonBody(headers: FastifyRequest['headers'], bytes: Buffer, maxDepth: number): unknown {
  refuseOtherEncodings(headers);
  const value = parse(bytes);
  const problem = findUnsafeJson(value, maxDepth, MAX_VALUES);
  if (problem === undefined) return value;
  const detail = `${problem.pointer || 'The body'}: ${problem.message}`;
  throw new ServiceError('validation_failed', detail, { errors: [problem] });
}

/** JSON that travels is UTF-8 (RFC 8259 §8.1), and nothing is decompressed here. */
function refuseOtherEncodings(headers: FastifyRequest['headers']): void {
  const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(headers['content-type'] ?? '')?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset))
    throw new ServiceError('unsupported_media_type', 'Send the body as UTF-8: no other charset is accepted.');
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.trim().toLowerCase() !== 'identity')
    throw new ServiceError('unsupported_media_type', 'Send the body without a Content-Encoding.');
}

/** RFC 8259 §8.1: JSON that travels is UTF-8. A byte order mark is kept, so that parsing refuses it. */
function parse(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new ServiceError('invalid_json', 'The body is not valid UTF-8.');
  const text = bytes.toString('utf8');
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalidJson(text, cause);
  }
}

function invalidJson(text: string, cause: unknown): ServiceError {
  const fault = findJsonFault(text);
  if (fault === undefined) return new ServiceError('invalid_json', undefined, { cause });
  const { line, column, message } = fault;
  const detail = `The body is not valid JSON. Line ${line}, column ${column}: ${message}`;
  return new ServiceError('invalid_json', detail, { facts: { line, column }, cause });
}

/**
 * The parts of an HTTP request that the operation reads, unparsed. Only what needs no contract is refused here; the
 * service that answers the operation checks the rest against the contract, once.
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
  if (body === 'array' && !Array.isArray(request.body)) throw noArray();
  return request;
}

/** `/api/worlds/` names no world, but the router matches an empty segment to a parameter. */
function refuseEmptySegments(params: unknown): void {
  if (Object.values(params as Record<string, string>).includes(''))
    throw new ServiceError(
      'route_not_found',
      'A part of the path is empty: leave out the slash at its end, or say what is meant between two slashes.',
    );
}

/** Bodies are checked when they are parsed. U+0000 and lone surrogates come in paths and queries, too. */
function refuseUnsafeText(parts: Partial<RawRequest>): void {
  const problem = findUnsafeJson(parts);
  if (problem !== undefined) throw refusedHttp([problem]);
}

/** No operation takes a parameter twice; the query parser makes a list of it. */
function refuseRepeated(query: unknown): void {
  for (const [name, value] of Object.entries(query as Record<string, unknown>)) {
    if (Array.isArray(value)) {
      const problem = fieldProblem(toPointer(['query', name]), 'repeated', 'Give this parameter only once.');
      throw refusedHttp([problem]);
    }
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
