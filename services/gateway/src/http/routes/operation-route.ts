import {
  type Caller,
  type ContentLimits,
  fieldProblem,
  findUnsafeJson,
  noArray,
  refusedHttp,
  ServiceError,
  toPointer,
} from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { isFromHere } from '../../core/clients/clients.js';
import type { CallOperation, GatewayCall, OperationReply, RoutedRpc } from '../../core/requests/operation.js';
import { type RequestSchema, requestSchema } from '../../core/requests/request-schema.js';
import { principalOf } from '../access/access.js';
import type { Admission } from '../load/requests.js';
import { envelopeOf } from './dispatch.js';

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
      const call = { ...callOf(http, reply, context), passesOn: true };
      const answer = await context.call(rpc, request, call);
      if (answer.text !== undefined) return passOn(rpc, answer.text, reply);
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

/** A character that is written as an escape (`\\u0041`) takes six bytes. */
const ESCAPE_BYTES = 6;
/** For spaces and line breaks, and for an operation that takes no body and is sent one. */
const SPARE_BYTES = 4 * 1024;

/** Bytes of a request's body: what the operation accepts can have as many on the wire, and never more than the general limit. */
function bodyLimitOf(
  { initialConfig }: FastifyInstance,
  { http: { bodyBytes } }: RoutedRpc,
  { body }: RequestSchema,
  limits: ContentLimits,
): number {
  const parsed = body === 'none' ? 0 : (bodyBytes?.(limits) ?? Number.POSITIVE_INFINITY);
  const general = initialConfig.bodyLimit ?? Number.POSITIVE_INFINITY;
  return Math.min(general, ESCAPE_BYTES * parsed + SPARE_BYTES);
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
function signalOfClient(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  // A response closes once, so `on` needs no removal as `once` does.
  reply.raw.on('close', () => {
    if (!reply.raw.writableFinished) gone.abort(new Error('the client went away'));
  });
  return gone.signal;
}

/** The same for a reply of which nothing was read. */
function passOn({ http }: RoutedRpc, text: string, reply: FastifyReply): string {
  const { body, etag } = envelopeOf(text);
  if (etag !== undefined) reply.header('etag', quoted(etag));
  reply.code(http.status).header('content-type', 'application/json; charset=utf-8');
  return body;
}

/**
 * Sets the operation's status, `Location` and `ETag` and returns the body, the success envelope, of which undefined members
 * are not sent. The handler returns it to have it sent; a returned reply is a thenable and would be awaited again.
 */
function answerEnvelope(
  rpc: RoutedRpc,
  params: Record<string, string>,
  { data, message, warnings, totals, pagination, etag }: OperationReply,
  reply: FastifyReply,
): object {
  const record = data as Record<string, unknown>;
  const location = rpc.http.location?.({ params }, record);
  if (location !== undefined) reply.header('location', location);
  if (etag !== undefined) reply.header('etag', quoted(etag));
  const accepted = rpc.http.accepted?.is(record) === true;
  // RFC 7240 §3: only a request with `Prefer: respond-async` is accepted for later.
  if (accepted && 'executionId' in record) reply.header('preference-applied', 'respond-async');
  reply.code(accepted ? 202 : rpc.http.status);
  return { success: true, data, message, warnings, totals, pagination };
}

/** RFC 9110 §8.8.3: an entity tag is quoted. */
const quoted = (tag: string): string => (tag.startsWith('"') ? tag : `"${tag}"`);

type RawRequest = Record<'params' | 'query' | 'headers' | 'body', unknown>;

/**
 * The parts of an HTTP request that the operation reads, unparsed. Only what needs no contract is refused here; the
 * service that answers the operation checks the rest against the contract, once.
 *
 * @throws ServiceError `validation_failed` or `body_must_be_array`, with pointers.
 */
export function readRequest(http: FastifyRequest, { headers, body }: RequestSchema): RawRequest {
  const request: RawRequest = {
    params: http.params,
    query: http.query,
    headers: pick(http.headers, headers),
    body: http.body ?? (body === 'none' && http.body === undefined ? {} : http.body),
  };
  refuseEmptySegments(request.params);
  refuseUnsafeText({ params: request.params, query: request.query, headers: request.headers });
  refuseRepeated(request.query);
  if (body === 'array' && !Array.isArray(request.body)) throw noArray();
  return request;
}

/** `/api/worlds/` names no world, but the router matches an empty segment to a parameter. */
function refuseEmptySegments(params: unknown): void {
  if (Object.values(params as Record<string, string>).includes(''))
    throw new ServiceError(
      'route_not_found',
      'A part of the path is empty: leave out the slash at its end, or say what is meant between two slashes.',
    );
}

/** Bodies are checked when they are parsed. U+0000 and lone surrogates come in paths and queries, too. */
function refuseUnsafeText(parts: Partial<RawRequest>): void {
  const problem = findUnsafeJson(parts);
  if (problem !== undefined) throw refusedHttp([problem]);
}

/** No operation takes a parameter twice; the query parser makes a list of it. */
function refuseRepeated(query: unknown): void {
  for (const [name, value] of Object.entries(query as Record<string, unknown>)) {
    if (Array.isArray(value)) {
      const problem = fieldProblem(toPointer(['query', name]), 'repeated', 'Give this parameter only once.');
      throw refusedHttp([problem]);
    }
  }
}

function pick(headers: FastifyRequest['headers'], names: readonly string[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const name of names) {
    const value = headers[name];
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}
