import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { listenFailure } from '@orrery/service-kit';
import fastify, { type FastifyInstance } from 'fastify';
import { answerClientError } from '../errors/client-errors.js';
import { edgeError, sendProblem } from '../errors/error-replies.js';
import type { BodyLimits } from './arriving-bodies.js';
import type { ConnectionLimits } from './connections.js';

export interface HttpLimits extends ConnectionLimits, BodyLimits {
  /** Bytes of a body, whatever its operation takes. */
  bodyLimit: number;
  /** Nesting levels of a body's JSON. */
  jsonDepth: number;
  /** Ms within which a whole request must have arrived. */
  requestTimeoutMs: number;
  /** Ms within which the headers must have arrived. */
  headersTimeoutMs: number;
  /** Requests are still taken, but the server is about to close. */
  isEnding?: () => boolean;
}

/** A name may have 255 characters, each up to four bytes long and percent-encoded as three. */
const MAX_PARAM_LENGTH = 255 * 4 * 3;
/** How long a connection without any bytes may delay closing, in milliseconds: a request may be on its way. */
const SILENCE_MS = 500;

/**
 * The bare HTTP server with its limits; every answer has the id of its request. Timeouts are checked every second, so a
 * slow sender exceeds them by little. While the server closes it still answers requests on open connections.
 */
export function createHttp(limits: HttpLimits): FastifyInstance {
  const app = fastify({
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
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    done();
  });
  drainOnClose(app, limits.isEnding ?? (() => false));
  return app;
}

/** Starts to listen and returns the address as a URL. @throws StartupError that says what to do. */
export async function listenHttp(
  app: FastifyInstance,
  address: { host: string; port: number },
): Promise<string> {
  try {
    return await app.listen(address);
  } catch (error) {
    throw listenFailure(error, { ...address, variable: 'PORT' });
  }
}

/** What a caller may name a request: printable, without anything that could break a log line or a header. */
const ACCEPTED_ID = /^[A-Za-z0-9._~:/+=@-]{1,128}$/;

/** The caller's `X-Request-Id` if it is acceptable, otherwise a new one. */
function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && ACCEPTED_ID.test(given) ? given : randomUUID();
}

/**
 * Once the server is to close, every answer ends its connection: closing would otherwise wait for kept-alive connections
 * until they time out. Connections that browsers and pools open in advance carry no request and are cut.
 */
function drainOnClose(app: FastifyInstance, isEnding: () => boolean): void {
  const sockets = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
    const endSilent = () => {
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    };
    // After the next look at the sockets: while the process itself was busy, a request may have arrived.
    setTimeout(() => setImmediate(endSilent), SILENCE_MS).unref();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isClosing || isEnding()) reply.header('connection', 'close');
    done();
  });
}
