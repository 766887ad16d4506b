import type { Logger } from '@orrery/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FindPublished } from '../public/published.js';
import type { SignedRouteContext } from '../public/signed-route.js';

/** The protocol's package, which is loaded with the first request. */
export type McpModule = typeof import('@modelcontextprotocol/server');

export interface McpContext extends SignedRouteContext {
  findPublished: FindPublished;
  logger: Logger;
}

/** One HTTP request, as the handlers of its server need it. */
export interface Exchange {
  readonly http: FastifyRequest;
  readonly reply: FastifyReply;
}
