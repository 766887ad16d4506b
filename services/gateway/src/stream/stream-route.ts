import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { parseRequest, ServiceError } from '@orrery/contracts';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { GatewayCall, RoutedRpc } from '../core/requests/operation.js';
import { requestSchema } from '../core/requests/request-schema.js';
import { bearerToken } from '../http/access/access.js';
import { callOf, type RouteContext, readRequest } from '../http/routes/operation-route.js';

export interface StreamCall extends GatewayCall {
  /** To be verified again and again while the stream is open. */
  token: string;
  /** Writes the head and returns the open response; errors cannot be answered with a status afterwards. */
  begin(): ServerResponse;
}

/** Serves a stream until it ends by itself or the call's signal aborts. */
export type StreamHandler = (request: unknown, call: StreamCall) => Promise<void>;

export interface StreamRouteContext extends RouteContext {
  stream: StreamHandler;
  /** Open streams of this process; beyond it new ones are refused. */
  maxStreams: number;
}

/** Makes a route that answers with server-sent events. Open streams end when the application closes. */
export function addStreamRoute(app: FastifyInstance, rpc: RoutedRpc, context: StreamRouteContext): void {
  const schema = requestSchema(rpc);
  const closing = new AbortController();
  let open = 0;
  app.addHook('preClose', async () => closing.abort());
  app.get(rpc.http.path, { onRequest: context.guards(rpc), exposeHeadRoute: false }, async (http, reply) => {
    const request = readRequest(http, schema);
    // The gateway serves the stream itself, so it checks the request; its parts go to the services unparsed.
    parseRequest(rpc, request);
    if (open >= context.maxStreams) throw new ServiceError('overloaded', 'Too many streams are open.');
    const call = callOf(http, reply, context);
    open += 1;
    try {
      await context.stream(request, {
        ...call,
        signal: AbortSignal.any([call.signal, closing.signal]),
        token: bearerToken(http.raw),
        begin: () => beginStream(reply, context.admission),
      });
    } finally {
      open -= 1;
    }
    return reply;
  });
}

function beginStream(reply: FastifyReply, admission: StreamRouteContext['admission']): ServerResponse {
  admission.release(reply);
  const headers: OutgoingHttpHeaders = {
    ...(reply.getHeaders() as OutgoingHttpHeaders),
    'content-type': 'text/event-stream; charset=utf-8',
    'x-accel-buffering': 'no',
    // The connection serves nothing else afterwards, so that closing does not wait for it.
    connection: 'close',
  };
  reply.hijack();
  reply.raw.writeHead(200, headers);
  reply.raw.flushHeaders();
  return reply.raw;
}
