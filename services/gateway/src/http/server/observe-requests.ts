import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createMeter, type Logger, withoutRedaction } from '@orrery/service-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pathOf } from '../../core/requests/request-schema.js';
import { principalOf } from '../access/access.js';

export interface RequestEnd {
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
