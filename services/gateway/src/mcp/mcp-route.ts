import type { McpRequestContext, Server } from '@modelcontextprotocol/server';
import { type Access, asServiceError, publicContract, ServiceError } from '@orrery/contracts';
import type { Logger } from '@orrery/service-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { RoutedRpc } from '../core/requests/operation.js';
import { requestSchema } from '../core/requests/request-schema.js';
import { type KeyVerifier, requireAccess } from '../http/access/access.js';
import { PIECE_BYTES } from '../http/load/answers.js';
import { GrowingAnswer } from '../http/load/growing-answer.js';
import { limitBy } from '../http/rates/limiter.js';
import { type RouteContext, routeOf } from '../http/routes/operation-route.js';
import { accountServer } from './account-server.js';
import { deploymentServer } from './deployment-server.js';
import type { Exchange, McpContext, McpModule } from './exchange.js';

type BuildServer = (mcp: McpModule) => Server;
/** What the request asks for, found before the protocol begins: a refusal is one of HTTP. */
type Prepare = (exchange: Exchange) => Promise<BuildServer>;

const KEYED: Access = { scope: 'none', relation: 'account' };

/**
 * The Model Context Protocol (revision 2026-07-28, and statelessly the one before): `/mcp/deployments/:address` is a
 * published deployment for anyone, `/mcp` the operations of the API for a key.
 */
export function addMcpRoutes(app: FastifyInstance, context: McpContext & { keys: KeyVerifier }): void {
  const { publicUrl, keys } = context;
  const refuseForeign: onRequestHookHandler = (request, _reply, done) =>
    done(foreignOrigin(request, publicUrl));
  const add = (url: string, guards: onRequestHookHandler[], prepare: Prepare, options = {}) => {
    const serve = createServing(prepare, context.logger);
    app.post(url, { ...options, onRequest: [refuseForeign, ...guards] }, serve);
  };
  const findServer: Prepare = async (exchange) => {
    const { address } = exchange.http.params as { address: string };
    const published = await context.findPublished(address);
    return (mcp) => deploymentServer(mcp, published, exchange, context);
  };
  add('/mcp/deployments/:address', limitBy('reading', context), findServer, {
    bodyLimit: executionBytes(app, context),
  });
  add(
    '/mcp',
    [...requireAccess(KEYED, keys), ...limitBy('key', context)],
    async (exchange) => (mcp) => accountServer(mcp, exchange, context),
  );
}

/** A call of a tool has an execution and, beside it, a payment and the client's own words. */
function executionBytes(app: FastifyInstance, context: RouteContext): number {
  const execute = publicContract.rpcs['public.execute'] as RoutedRpc;
  const most = app.initialConfig.bodyLimit ?? Number.POSITIVE_INFINITY;
  return Math.min(most, routeOf(app, execute, requestSchema(execute), context).bodyLimit + BESIDE_BYTES);
}

const BESIDE_BYTES = 32 * 1024;

/** A page of another origin may be led to a server on its reader's machine, whatever name it asks for. */
function foreignOrigin({ headers: { origin } }: FastifyRequest, publicUrl: string): ServiceError | undefined {
  if (origin === undefined || origin === new URL(publicUrl).origin) return undefined;
  return new ServiceError('forbidden', `Pages of ${origin.slice(0, 255)} may not call this server.`);
}

type Handler = ReturnType<McpModule['createMcpHandler']>;

/** Serves requests by the protocol's own package, which is loaded with the first one. */
function createServing(prepare: Prepare, logger: Logger) {
  let loading: Promise<Handler> | undefined;
  const load = async () => {
    const mcp = await import('@modelcontextprotocol/server');
    const factory = ({ authInfo }: McpRequestContext) => {
      const build = authInfo?.extra?.['build'] as BuildServer | undefined;
      if (build === undefined) throw new Error('no server was prepared for the request');
      return build(mcp);
    };
    // No list changes while a request runs, so there is nothing to subscribe to.
    return mcp.createMcpHandler(factory, {
      maxSubscriptions: 0,
      onerror: (err) => {
        if (!isOfClient(err, mcp)) logger.error({ err }, 'request of an agent failed');
      },
    });
  };
  return async (http: FastifyRequest, reply: FastifyReply) => {
    loading ??= load();
    const handler = await loading;
    if (Array.isArray(http.body))
      throw new ServiceError('validation_failed', 'Send one message in each request, not a list.');
    const build = await prepare({ http, reply });
    const gone = new AbortController();
    reply.raw.on('close', () => gone.abort());
    // Nothing is looked up by the host, which may be a text that no URL can hold.
    const request = new Request(`http://localhost${http.url}`, {
      method: 'POST',
      headers: headersOf(http),
      signal: gone.signal,
    });
    const authInfo = { token: '', clientId: '', scopes: [], extra: { build } };
    const answer = await handler
      .fetch(request, { parsedBody: http.body, authInfo })
      .catch((error: unknown) => Promise.reject(asServiceError(error)));
    reply.code(answer.status);
    answer.headers.forEach((value, name) => void reply.header(name, value));
    if (answer.body === null) return reply.send();
    const isOfEvents = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
    return isOfEvents && isCall(http.body)
      ? new GrowingAnswer(answer.body, PIECE_BYTES)
      : await answer.text();
  };
}

/** A call may take minutes: what the package writes meanwhile keeps its connection. All else is answered at once. */
const isCall = (body: unknown): boolean => (body as { readonly method?: unknown }).method === 'tools/call';

/** Requests that the package refuses; the access log has a line of each. */
const isOfClient = (error: Error, { ProtocolError }: McpModule): boolean =>
  error instanceof ProtocolError || /^(Rejected inbound request|Unsupported Media Type)/.test(error.message);

/** Those that the protocol reads. */
const READ = ['accept', 'content-type', 'last-event-id'];

function headersOf({ headers }: FastifyRequest): Record<string, string> {
  const names = Object.keys(headers).filter((name) => READ.includes(name) || name.startsWith('mcp-'));
  const read = Object.fromEntries(names.map((name) => [name, String(headers[name])]));
  // The package looks for the names of the types alone.
  if (headers.accept?.includes('*/*')) read['accept'] = 'application/json, text/event-stream';
  return read;
}
