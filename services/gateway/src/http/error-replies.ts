import { ERRORS, type ServiceError } from '@orrery/contracts';
import type { Logger } from '@orrery/service-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { edgeError } from './framework-errors.js';
import { PROBLEM_TYPE, problemHeaders, problemOf } from './problem.js';
import { pathOf } from './request-path.js';

/** Answers every error as a problem document; what is our own fault is logged with its cause. */
export function answerProblems(app: FastifyInstance, logger: Logger): void {
  app.setErrorHandler((thrown, request, reply) => {
    const error = edgeError(thrown);
    if (ERRORS[error.code].status >= 500) logFault(logger, error, request);
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

/** Faults of our own with their stack; what is away or too busy in one line, since there may be many of them. */
function logFault(logger: Logger, error: ServiceError, request: FastifyRequest): void {
  const facts = { requestId: request.id, code: error.code, route: request.routeOptions.url };
  if (error.code === 'internal') logger.error({ ...facts, err: error }, 'request failed');
  else logger.warn({ ...facts, cause: causeOf(error) }, error.message);
}

const causeOf = ({ cause }: ServiceError): string | undefined =>
  cause instanceof Error ? cause.message : undefined;
