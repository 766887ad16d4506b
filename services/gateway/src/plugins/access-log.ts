import { type Logger, withoutRedaction } from '@orrery/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OnRequestEnd, RequestEnd } from '../http/request-ends.js';
import { pathOf } from '../http/request-path.js';
import { principalOf } from '../http/request-principal.js';

/** Longer paths are cut in the log. */
const MAX_PATH = 512;

/** One line per request, also when the client left before its answer. */
export function addAccessLog(onRequestEnd: OnRequestEnd, logger: Logger): void {
  const lines = withoutRedaction(logger);
  onRequestEnd((request, reply, end) => {
    if (lines.isLevelEnabled('info')) lines.info(lineOf(request, reply, end), 'request');
  });
}

/** Queries, headers and bodies stay out: they may hold secrets. What is undefined is not written. */
function lineOf(request: FastifyRequest, reply: FastifyReply, { ms, route }: RequestEnd): object {
  const principal = principalOf(request);
  return {
    requestId: request.id,
    method: request.method,
    path: pathOf(request.url).slice(0, MAX_PATH),
    route,
    status: reply.statusCode,
    aborted: reply.raw.writableFinished ? undefined : true,
    ms: Math.round(ms * 10) / 10,
    address: request.ip,
    accountId: principal?.accountId,
    keyId: principal?.keyId,
  };
}
