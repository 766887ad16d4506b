import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ServiceError } from '@orrery/contracts';
import { createMeter, type Health, type Logger, listenFailure, withoutRedaction } from '@orrery/service-kit';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { ProxyTrust } from '../../core/clients/clients.js';
import { pathOf } from '../../core/requests/request-schema.js';
import { principalOf } from '../access/access.js';
import { answerClientError, edgeError, sendProblem } from '../errors/error-replies.js';
import type { RouteTable } from './route-table.js';

export interface ServerLimits {
  /** Bytes of a body, whatever its operation takes. */
  bodyLimit: number;
  /** Ms within which a whole request must have arrived. */
  requestTimeoutMs: number;
  /** Ms within which the headers must have arrived. */
  headersTimeoutMs: number;
  trustProxy: ProxyTrust;
}

/** A name may have 255 characters, each up to four bytes long and percent-encoded as three. */
const MAX_PARAM_LENGTH = 255 * 4 * 3;
/** How long a connection without any bytes may delay closing, in milliseconds: a request may be on its way. */
const SILENCE_MS = 500;

/**
 * The bare HTTP server with its limits; every answer has the id of its request. Timeouts are checked every second, so a
 * slow sender exceeds them by little. While the server closes it still answers requests on open connections.
 */
export function createHttp(limits: ServerLimits, ending?: AbortSignal): FastifyInstance {
  const app = fastify({
    logger: false,
    bodyLimit: limits.bodyLimit,
    requestTimeout: limits.requestTimeoutMs,
    http: {
      headersTimeout: limits.headersTimeoutMs,
      connectionsCheckingInterval: 1000,
      maxHeaderSize: 16 * 1024,
      // Node would answer without a body: see requireHost.
      requireHostHeader: false,
    },
    keepAliveTimeout: 72_000,
    trustProxy: limits.trustProxy,
    genReqId: requestIdOf,
    requestIdHeader: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    clientErrorHandler: answerClientError,
    // No hook runs before these.
    frameworkErrors: (error, request, reply) => {
      tellBrowsers(request, reply);
      void sendProblem(edgeError(error), request, reply);
    },
  });
  // Nothing that a request may expect is needed to answer it (RFC 9110 §10.1.1); Node would refuse it without a body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    done();
  });
  drainOnClose(app, ending);
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
function drainOnClose(app: FastifyInstance, ending: AbortSignal | undefined): void {
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
    if (isClosing || ending?.aborted === true) reply.header('connection', 'close');
    done();
  });
}

/** `/healthz`: the process runs. `/readyz`: its dependencies answer; with 503 a load balancer sends requests elsewhere. */
export function addHealthRoutes(app: FastifyInstance, health: Health): void {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const readiness = await health.readiness();
    return reply.code(readiness.status === 'unavailable' ? 503 : 200).send(readiness);
  });
}

/** Answers are data for programs: a browser may not sniff, frame, cache or run them. */
const SECURITY_HEADERS = Object.entries({
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'cross-origin',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
});

const ALLOWED_HEADERS = [
  // Sent by the fetch of the x402 packages.
  'access-control-expose-headers',
  'authorization',
  'content-type',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'last-event-id',
  'payment-signature',
  'prefer',
  'x-payment',
  'x-request-id',
].join(', ');

const EXPOSED_HEADERS = [
  'etag',
  'link',
  'location',
  'payment-required',
  'payment-response',
  'preference-applied',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'x-payment-response',
  'x-request-id',
].join(', ');

/** Of a request target, so a query may follow. */
const OPEN_PATH = /^\/(?:(?:api|app|auth)\/|openapi\.json(?:$|[?;#]))/;
/** Browsers keep a preflight's answer at most two hours. */
const PREFLIGHT_SECONDS = 7200;

/**
 * Tells browsers what a page may do with an answer: security headers on every answer (a page of its own may set others
 * afterwards) and CORS. Any origin is allowed, without credentials: tokens and signatures are never sent by the browser
 * itself, so a foreign page can do nothing that its own server could not. Answers every OPTIONS of a known path.
 */
export function addBrowserPolicy(app: FastifyInstance, routes: RouteTable): void {
  app.addHook('onRequest', (request, reply, done) => {
    const isOpen = tellBrowsers(request, reply);
    if (!isOpen || request.method !== 'OPTIONS' || !answerPreflight(request, reply, routes)) done();
  });
}

/** Sets the headers; tells whether pages of any origin may read the answer. */
function tellBrowsers(request: FastifyRequest, reply: FastifyReply): boolean {
  for (const [name, value] of SECURITY_HEADERS) reply.header(name, value);
  if (!OPEN_PATH.test(request.url)) return false;
  reply.header('access-control-allow-origin', '*');
  reply.header('access-control-expose-headers', EXPOSED_HEADERS);
  return true;
}

/** Refuses what names no host although HTTP/1.1 asks for one (RFC 9112 §3.2). */
export function requireHost(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw: { headers, httpVersion } }, reply, done) => {
    if (headers.host !== undefined || httpVersion !== '1.1') return done();
    reply.header('connection', 'close');
    done(new ServiceError('malformed_request', 'A request of HTTP/1.1 needs the header Host.'));
  });
}

/** Whether the path is known and was answered. */
function answerPreflight(request: FastifyRequest, reply: FastifyReply, routes: RouteTable): boolean {
  const methods = routes.methodsOf(pathOf(request.url)).join(', ');
  if (methods === '') return false;
  void reply
    .code(204)
    .headers({
      allow: methods,
      'access-control-allow-methods': methods,
      'access-control-allow-headers': ALLOWED_HEADERS,
      'access-control-max-age': PREFLIGHT_SECONDS,
    })
    .send();
  return true;
}

interface RequestEnd {
  /** How long it took, in milliseconds. */
  ms: number;
  /** The pattern of its route, if any. Read once: the framework creates an object for each read. */
  route: string | undefined;
}

/** Called once when a request is over, answered or not. */
type AtEnd = (request: FastifyRequest, reply: FastifyReply, end: RequestEnd) => void;

/** Registers a function that is called at the end of every request. */
export type OnRequestEnd = (atEnd: AtEnd) => void;

/**
 * Measures and logs every request, also one whose client left before its answer. One listener per request serves all
 * that is registered with the returned function.
 */
export function observeRequests(app: FastifyInstance, logger: Logger): OnRequestEnd {
  const metrics = requestMetrics();
  const listeners: AtEnd[] = [metrics.ended, accessLog(logger)];
  const closeWith = closeWithConnection();
  app.addHook('onRequest', (request, reply, done) => {
    const startedAt = performance.now();
    metrics.started();
    // A response closes once, so `on` needs no removal as `once` does.
    reply.raw.on('close', () => {
      const end = { ms: performance.now() - startedAt, route: request.routeOptions.url };
      for (const atEnd of listeners) atEnd(request, reply, end);
    });
    if (reply.raw.socket === null) closeWith(request.raw.socket, reply.raw);
    done();
  });
  return (atEnd) => void listeners.push(atEnd);
}

/**
 * A connection that ends closes the response that is being written, but not those of the requests that were pipelined
 * behind it: Node leaves them open for ever. The returned function has such a response closed as well.
 */
function closeWithConnection(): (connection: Socket, response: ServerResponse) => void {
  const behind = new WeakMap<Socket, Set<ServerResponse>>();
  const open = (connection: Socket) => {
    const responses = new Set<ServerResponse>();
    behind.set(connection, responses);
    connection.once('close', () => {
      for (const response of responses) {
        // One that has the connection, or is finished, is closed by Node.
        if (response.socket !== null || response.writableFinished) continue;
        response.destroyed = true;
        response.emit('close');
      }
    });
    return responses;
  };
  return (connection, response) => {
    const responses = behind.get(connection) ?? open(connection);
    responses.add(response);
    response.once('close', () => responses.delete(response));
  };
}

/** Counts and times requests by route pattern, never by path: paths contain names. */
function requestMetrics(): { started: () => void; ended: AtEnd } {
  const meter = createMeter('gateway');
  const duration = meter.createHistogram('orrery_http_request_duration', { unit: 'ms' });
  const underWay = meter.createUpDownCounter('orrery_http_requests_under_way');
  return {
    started: () => underWay.add(1),
    ended: (request, reply, { ms, route = 'unknown' }) => {
      underWay.add(-1);
      duration.record(ms, { method: request.method, route, status: reply.statusCode });
    },
  };
}

/** One line per request. */
function accessLog(logger: Logger): AtEnd {
  const lines = withoutRedaction(logger);
  return (request, reply, end) => {
    if (lines.isLevelEnabled('info')) lines.info(lineOf(request, reply, end), 'request');
  };
}

/** Longer paths are cut in the log. */
const MAX_PATH = 512;

/** Queries, headers and bodies are left out: they may contain secrets. Undefined members are not written. */
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
