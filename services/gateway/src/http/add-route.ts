import type { Caller } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { signalOfClient } from './call-signal.js';
import { answerEnvelope } from './envelope.js';
import { readRequest } from './read-request.js';
import { principalOf } from './request-principal.js';
import { requestSchema } from './request-schema.js';
import type { CallOperation, GatewayCall, RoutedRpc } from './routed-rpc.js';

export interface RouteContext {
  call: CallOperation;
  clock: Clock;
  /** How long a call may take, in milliseconds. */
  deadlineMs: number;
  /** Who may pass, before the body is read: authentication, scope and rate. */
  guards: (rpc: RoutedRpc) => onRequestHookHandler[];
}

/** Makes an HTTP route of an RPC: guards, then request → call → envelope. */
export function addRoute(app: FastifyInstance, rpc: RoutedRpc, context: RouteContext): void {
  const schema = requestSchema(rpc);
  app.route({
    method: rpc.http.method,
    url: rpc.http.path,
    onRequest: context.guards(rpc),
    config: { operation: rpc.name },
    handler: async (http, reply) => {
      const request = readRequest(http, schema);
      const answer = await context.call(rpc, request, callOf(http, reply, context));
      return answerEnvelope(rpc, http.params as Record<string, string>, answer, reply);
    },
  });
}

/** The call that an HTTP request makes: who, until when, and whether anyone still waits. */
export function callOf(
  http: FastifyRequest,
  reply: FastifyReply,
  { clock, deadlineMs }: RouteContext,
): GatewayCall {
  return {
    caller: callerOf(http),
    principal: principalOf(http),
    requestId: http.id,
    deadline: clock.now() + deadlineMs,
    signal: signalOfClient(reply),
  };
}

function callerOf(http: FastifyRequest): Caller {
  const principal = principalOf(http);
  if (principal === undefined) return { kind: 'anonymous' };
  return { kind: 'account', accountId: principal.accountId, scopes: [...principal.scopes] };
}
