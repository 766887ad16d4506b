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

function logFault(logger: Logger, error: ServiceError, request: FastifyRequest): void {
  const facts = { err: error, requestId: request.id, code: error.code, route: request.routeOptions.url };
  if (error.code === 'internal') logger.error(facts, 'request failed');
  else logger.warn(facts, 'request could not be served');
}
