import type { Caller, Cancellation, ContentLimits } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { CallOperation, GatewayCall, OperationReply, RoutedRpc } from '../../operations/operation.js';
import { type RequestSchema, requestSchema } from '../../operations/request-schema.js';
import { principalOf } from '../guards/access.js';
import type { Admission } from '../server/admission.js';
import { isFromHere } from './is-from-here.js';
import { readRequest } from './read-request.js';

export interface RouteContext {
  call: CallOperation;
  clock: Clock;
  /** How long a call may take, in milliseconds. */
  deadlineMs: number;
  /** The operator's limits on what a body holds. */
  contentLimits: ContentLimits;
  /** Who may pass, before the body is read: authentication, scope and rate. */
  guards: (rpc: RoutedRpc) => onRequestHookHandler[];
  admission: Admission;
}

/** Makes an HTTP route of an RPC: guards, then request → call → envelope. */
export function addRoute(app: FastifyInstance, rpc: RoutedRpc, context: RouteContext): void {
  const schema = requestSchema(rpc);
  app.route({
    ...routeOf(app, rpc, schema, context),
    handler: async (http, reply) => {
      const request = readRequest(http, schema);
      const answer = await context.call(rpc, request, callOf(http, reply, context));
      return answerEnvelope(rpc, http.params as Record<string, string>, answer, reply);
    },
  });
}

/** What an operation's route is, but for its handler. */
export const routeOf = (
  app: FastifyInstance,
  rpc: RoutedRpc,
  schema: RequestSchema,
  { guards, contentLimits }: Pick<RouteContext, 'guards' | 'contentLimits'>,
) => ({
  method: rpc.http.method,
  url: rpc.http.path,
  bodyLimit: bodyLimitOf(app, rpc, schema, contentLimits),
  onRequest: guards(rpc),
  config: { operation: rpc.name },
});

/** Bytes of a request's body: the operation's own limit, and never more than the general one. */
const bodyLimitOf = (
  app: FastifyInstance,
  { http }: RoutedRpc,
  { body }: RequestSchema,
  limits: ContentLimits,
): number => Math.min(app.initialConfig.bodyLimit ?? Number.POSITIVE_INFINITY, wireBytes(http, body, limits));

/** A character that is written as an escape (`\\u0041`) takes six bytes. */
const ESCAPE_BYTES = 6;
/** For spaces and line breaks, and for an operation that takes no body and is sent one. */
const SPARE_BYTES = 4 * 1024;

/** Bytes that a body which the operation accepts can have on the wire. */
export function wireBytes(
  { bodyBytes }: RoutedRpc['http'],
  body: RequestSchema['body'],
  limits: ContentLimits,
): number {
  const parsed = body === 'none' ? 0 : (bodyBytes?.(limits) ?? Number.POSITIVE_INFINITY);
  return ESCAPE_BYTES * parsed + SPARE_BYTES;
}

const ANONYMOUS: Caller = { kind: 'anonymous' };

/** The call that an HTTP request makes: the caller, the deadline, and a signal for a client that leaves. */
export function callOf(
  http: FastifyRequest,
  reply: FastifyReply,
  { clock, deadlineMs, admission }: RouteContext,
): GatewayCall {
  const principal = principalOf(http);
  return {
    caller: principal?.caller ?? ANONYMOUS,
    principal,
    requestId: http.id,
    deadline: clock.monotonic() + deadlineMs,
    signal: signalOfClient(reply),
    onRun: () => admission.wait(reply),
    isFromHere: () => isFromHere(http),
  };
}

/** Aborts when the client disconnects before its answer is written. */
function signalOfClient(reply: FastifyReply): Cancellation {
  const gone = new AbortController();
  // A response closes once, so `on` needs no removal as `once` does.
  reply.raw.on('close', () => {
    if (!reply.raw.writableFinished) gone.abort(new Error('the client went away'));
  });
  return gone.signal;
}

/** The body of a success; undefined members are not sent. */
interface Envelope extends Omit<OperationReply, 'etag'> {
  success: true;
}

/**
 * Sets the operation's status, `Location` and `ETag` and returns the body, the success envelope. The handler returns
 * that body to have it sent; a returned reply is a thenable and would be awaited again.
 */
function answerEnvelope(
  rpc: RoutedRpc,
  params: Record<string, string>,
  { data, message, totals, pagination, etag }: OperationReply,
  reply: FastifyReply,
): Envelope {
  const record = data as Record<string, unknown>;
  const location = rpc.http.location?.({ params }, record);
  if (location !== undefined) reply.header('location', location);
  if (etag !== undefined) reply.header('etag', quoted(etag));
  const accepted = rpc.http.accepted?.is(record) === true;
  // RFC 7240 §3: only a request with `Prefer: respond-async` is accepted for later.
  if (accepted) reply.header('preference-applied', 'respond-async');
  reply.code(accepted ? 202 : rpc.http.status);
  return { success: true, data, message, totals, pagination };
}

/** RFC 9110 §8.8.3: an entity tag is quoted. */
const quoted = (tag: string): string => (tag.startsWith('"') ? tag : `"${tag}"`);
