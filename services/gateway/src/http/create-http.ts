import fastify, { type FastifyInstance } from 'fastify';
import { answerClientError } from './client-errors.js';
import { sendProblem } from './error-replies.js';
import { edgeError } from './framework-errors.js';
import { requestIdOf } from './request-id.js';

export interface HttpLimits {
  /** Bytes of a body. */
  bodyLimit: number;
  /** Ms within which a whole request must have arrived. */
  requestTimeoutMs: number;
  /** Ms within which the headers must have arrived. */
  headersTimeoutMs: number;
  /** Whose word on client addresses counts: everybody's, nobody's, that of some networks, or of the last hops. */
  trustProxy: boolean | string | ((address: string, hop: number) => boolean);
}

/** A name may have 255 characters, each up to four bytes long and percent-encoded as three. */
const MAX_PARAM_LENGTH = 255 * 4 * 3;

/**
 * The bare HTTP server with its limits. Timeouts are checked every second, so a slow sender holds a connection for
 * little more than it may. While closing, requests on open connections are still served: none that was accepted is lost.
 */
export function createHttp(limits: HttpLimits): FastifyInstance {
  return fastify({
    logger: false,
    bodyLimit: limits.bodyLimit,
    requestTimeout: limits.requestTimeoutMs,
    http: {
      headersTimeout: limits.headersTimeoutMs,
      connectionsCheckingInterval: 1000,
      maxHeaderSize: 16 * 1024,
    },
    keepAliveTimeout: 72_000,
    trustProxy: limits.trustProxy,
    genReqId: requestIdOf,
    requestIdHeader: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => void sendProblem(edgeError(error), request, reply),
  });
}
