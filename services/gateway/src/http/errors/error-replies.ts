import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { finished } from 'node:stream';
import { asServiceError, ERRORS, type ErrorCode, ServiceError } from '@orrery/contracts';
import type { Logger } from '@orrery/service-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PROBLEM_TYPE, problemHeaders, problemOf } from '../../core/problems/problem.js';
import { pathOf } from '../../core/requests/request-schema.js';

/** Answers every error as a problem document. Faults of the service are logged with their cause. */
export function answerProblems(app: FastifyInstance, logger: Logger): void {
  let discarded = 0;
  app.setErrorHandler((thrown, request, reply) => {
    const error = edgeError(thrown, request.routeOptions.bodyLimit);
    logFault(logger, error, request);
    if (error.code === 'body_too_large' && discarded < MAX_DISCARDED && isSoonOver(request)) {
      discarded += 1;
      finished(request.raw, () => {
        discarded -= 1;
      });
      reply.removeHeader('connection');
    }
    return sendProblem(error, request, reply);
  });
}

export function sendProblem(error: ServiceError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const problem = problemOf(error, { instance: pathOf(request.url), requestId: request.id });
  return reply
    .code(problem.status)
    .headers({ ...problemHeaders(error), 'content-type': PROBLEM_TYPE, 'x-request-id': request.id })
    .send(problem);
}

/** What the framework refuses by itself, in the words of this service. */
const FRAMEWORK_ERRORS: Record<string, readonly [ErrorCode, string]> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'Send the body as Content-Type: application/json.',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid_json', 'The length of the body differs from Content-Length.'],
  FST_ERR_BAD_URL: ['validation_failed', 'The path is not valid percent-encoded UTF-8.'],
  FST_ERR_MAX_PARAM_LENGTH: ['validation_failed', 'A path segment is too long.'],
};

/** Any error that reached the HTTP edge. A client error of the framework that is not listed stays a client error. */
export function edgeError(error: unknown, bodyLimit?: number): ServiceError {
  if (error instanceof ServiceError) return error;
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return bodyTooLarge(bodyLimit, error);
  const known = typeof code === 'string' ? FRAMEWORK_ERRORS[code] : undefined;
  if (known !== undefined) return new ServiceError(known[0], known[1], { cause: error });
  const isClientError = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500;
  return isClientError
    ? new ServiceError('validation_failed', undefined, { cause: error })
    : asServiceError(error);
}

const bodyTooLarge = (limit: number | undefined, cause: unknown): ServiceError =>
  limit === undefined
    ? new ServiceError('body_too_large', undefined, { cause })
    : new ServiceError('body_too_large', `This operation takes a body of at most ${limit} bytes.`, {
        cause,
        facts: { limit },
      });

/** Refused bodies whose rest is read at the same time. Reading costs time, although nothing is stored. */
const MAX_DISCARDED = 4;

/**
 * Whether the rest of a refused body is read and thrown away instead of closing the connection: a client or a proxy that is
 * still sending when its connection closes may never see the answer (RFC 9112 §9.6). So is a body less than twice as large as
 * any may be.
 */
const isSoonOver = ({ headers, server }: FastifyRequest): boolean =>
  Number(headers['content-length']) < 2 * (server.initialConfig.bodyLimit ?? 0);

/**
 * Logs an error if it is a fault of the service: internal ones with their stack. Unavailability and overload in one line, since there may be many of them; of a client
 * that went away the request's own line says enough.
 */
export function logFault(logger: Logger, error: ServiceError, request: FastifyRequest): void {
  if (ERRORS[error.code].status < 500) return;
  const facts = { requestId: request.id, code: error.code, route: request.routeOptions.url };
  if (error.code === 'internal') logger.error({ ...facts, err: error }, 'request failed');
  else if (!request.raw.socket.destroyed)
    logger.warn({ ...facts, cause: causeOf(error), detail: error.message }, 'request refused');
}

const causeOf = ({ cause }: ServiceError): string | undefined =>
  cause instanceof Error ? cause.message : undefined;

const CODES: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'body_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/** Answers what is not even HTTP (or never ends) with a problem document and closes the connection. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  if (socket.writable) socket.write(rawProblem(CODES[error.code ?? ''] ?? 'malformed_request'));
  socket.destroySoon();
}

function rawProblem(code: ErrorCode): string {
  const requestId = randomUUID();
  const problem = problemOf(new ServiceError(code), { instance: 'about:blank', requestId });
  const body = JSON.stringify(problem);
  return [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}`,
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
